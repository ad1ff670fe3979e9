/** Each form with a text, and what may happen while somebody writes in it: no text is lost, and nothing is sent twice. */
import type { BrowserContext, Locator, Page } from "@playwright/test";
import { Api, post } from "../fixtures/api.ts";
import { stored } from "../fixtures/days.ts";
import { type Docket, PROJECT, type Server, at, expect, interactive, jobOf, open, test } from "../fixtures/docket.ts";
import { startElsewhere } from "../fixtures/faults.ts";
import { unique } from "../fixtures/templates.ts";

// Notes move what is below the chart.
test.use({ demoFor: "form_matrix" });

interface Form {
  /** Its path. */
  path: (api: Api) => Promise<string>;
  /** Shows the form, if it is folded. */
  show?: (page: Page) => Promise<void>;
  field: (page: Page) => Locator;
  /** Fills in what else is required. */
  complete?: (page: Page, docket: Docket) => Promise<void>;
  /** A server whose platform gets jobs without Docket, instead of the demonstration. */
  alone?: true;
  button: string;
  /** Waits for what the page shows after sending. */
  done: (page: Page) => Promise<void>;
  /** How many things with this text exist. */
  count: (text: string, api: Api, page: Page, docket: Docket) => Promise<number>;
}

let job = "";

const FORMS: Record<string, Form> = {
  "new job": {
    path: async () => at("/jobs/new"),
    field: (page) => page.getByLabel("Prompt", { exact: true }),
    button: "Start job",
    done: async (page) => void (await jobOf(page)),
    count: async (text, api) => (await api.jobs({ q: text })).jobs.length,
  },
  "follow-up": {
    path: async (api) => {
      job = (await api.start(`emulator:slow ${unique("Explain")}`)).id;
      return at(`/jobs/${job}`);
    },
    field: (page) => page.getByLabel("Follow-up"),
    button: "Send follow-up",
    done: (page) => expect(page.getByLabel("Follow-up")).toHaveValue(""),
    count: async (text, api) => (await api.job(job)).follow_ups.filter((sent) => sent.prompt === text).length,
  },
  batch: {
    path: async () => at("/jobs/batch"),
    field: (page) => page.getByLabel("Prompt template"),
    complete: (page) => page.getByLabel("Values, one line per job").fill("/a"),
    button: "Preview",
    done: (page) => expect(page).toHaveURL(/\/batches\//),
    count: async (text, _, page, docket) => {
      const found = await post(page.request, docket.url, "batches/unstarted", { project: PROJECT });
      return JSON.stringify(found).includes(text.replace("{{page}}", "a page")) ? 1 : 0;
    },
  },
  template: {
    path: async () => at("/templates?edit=new"),
    field: (page) => page.getByLabel("Text", { exact: true }),
    complete: (page) => page.getByLabel("Name", { exact: true }).fill(unique("Template")),
    button: "Save template",
    done: (page) => expect(page).toHaveURL(at("/templates")),
    count: async (text, _, page, docket) => {
      const found = await post(page.request, docket.url, "templates/list", { project: PROJECT });
      return JSON.stringify(found).includes(text) ? 1 : 0;
    },
  },
  import: {
    path: async () => at("/jobs/import"),
    field: (page) => page.getByLabel("Note"),
    complete: async (page, docket) => page.getByLabel("Id of the job on the platform").fill(await startElsewhere(docket as Server, "emulator:slow Rewrite the guides")),
    alone: true,
    button: "Import job",
    done: async (page) => void (await jobOf(page)),
    count: async (text, api) => (await api.jobs({ q: text })).jobs.length,
  },
  note: {
    path: async () => at("/analytics"),
    show: async (page) => {
      const form = page.locator("details.note-form").filter({ hasText: "Add a note" });
      if (!(await form.evaluate((details: HTMLDetailsElement) => details.open))) await form.locator("summary").click();
    },
    field: (page) => page.locator("details.note-form").filter({ hasText: "Add a note" }).getByLabel("Note"),
    button: "Save",
    done: (page) => expect(page.getByRole("status").getByText("Note saved").first()).toBeAttached(),
    count: async (text, _, page, docket) => {
      const html = await (await page.request.get(`${docket.url}${at("/analytics")}`)).text();
      return html.split(`value="${text}"`).length - 1;
    },
  },
};

interface Happens {
  page: Page;
  context: BrowserContext;
  path: string;
  form: Form;
  send: () => Promise<void>;
}

/** Back on the page, the form is shown. */
async function shown(page: Page, form: Form): Promise<void> {
  await interactive(page);
  await form.show?.(page);
}

const EVENTS: Record<string, (happens: Happens) => Promise<void>> = {
  reload: async ({ page, form }) => {
    await page.reload();
    await shown(page, form);
  },
  "Back and Forward": async ({ page, form }) => {
    await open(page, at("/reviews"));
    await page.goBack();
    await shown(page, form);
    await page.goForward();
    await interactive(page);
    await page.goBack();
    await shown(page, form);
  },
  "second tab": async ({ page, context, path, form }) => {
    const other = await context.newPage();
    await other.goto(path);
    await shown(other, form);
    await form.field(other).focus();
    await other.close();
    await page.bringToFront();
  },
  sleep: async ({ page }) => {
    await page.clock.fastForward("08:00:00");
    await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  },
  offline: async ({ page, context, send }) => {
    await context.setOffline(true);
    await send();
    await expect(page.getByRole("alert").filter({ hasText: "could not be reached" })).toBeVisible();
    await context.setOffline(false);
  },
};

for (const [name, form] of Object.entries(FORMS)) {
  for (const [event, happen] of Object.entries(EVENTS)) {
    test(`${name}: its text survives ${event}, and is sent once`, async ({ page: ofDemo, api: apiOfDemo, demo, serve, visit, trouble }) => {
      test.setTimeout(300_000);
      if (event === "offline") trouble.expects(/ERR_INTERNET_DISCONNECTED|Failed to fetch/);
      const docket = form.alone ? await serve() : demo;
      const page = form.alone ? await visit(docket, { storageState: docket.session }) : ofDemo;
      const api = form.alone ? new Api(page.request, docket.url, PROJECT) : apiOfDemo;
      const context = page.context();
      if (name === "note") await stored(api);
      if (event === "sleep") await page.clock.install();
      const path = await form.path(api);
      const text = `${unique(`Written before ${event}`)}${name === "batch" ? " {{page}}" : ""}`;
      await open(page, path);
      await form.show?.(page);
      await form.complete?.(page, docket);
      await form.field(page).fill(text);
      // What keeps the text of a plain form is loaded when somebody types.
      const isKept = (text: string) => Object.entries(localStorage).some(([key, value]) => key.startsWith("docket.draft/") && decodeURIComponent(value.replaceAll("+", " ")).includes(text));
      await expect.poll(() => page.evaluate(isKept, text)).toBe(true);
      const send = () => form.field(page).locator("xpath=ancestor::form").getByRole("button", { name: form.button, exact: true }).click();
      await happen({ page, context, path, form, send });
      await expect(form.field(page)).toHaveValue(text);
      expect(await form.count(text, api, page, docket), "nothing is sent before").toBe(0);
      await send();
      await form.done(page);
      await expect.poll(() => form.count(text, api, page, docket)).toBe(1);
      await open(page, path);
      await form.show?.(page);
      await expect(form.field(page)).toHaveValue("");
    });
  }
}
