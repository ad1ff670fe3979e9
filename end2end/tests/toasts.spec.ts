/** Toasts: they cover no controls, and do not repeat the page. */
import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { at, badge, expect, open, test } from "../fixtures/docket.ts";

const toasts = (page: Page) => page.locator(".toast");

/** Stores the visible controls. */
async function remember(page: Page): Promise<void> {
  const count = await page.evaluate(() => {
    const inSight = (it: Element) => {
      const { top, bottom, width } = it.getBoundingClientRect();
      return width > 0 && top >= 0 && bottom <= window.innerHeight && it.checkVisibility();
    };
    const controls = [...document.querySelectorAll("a[href], button, input, textarea, select, summary")].filter(inSight);
    Object.assign(window, { controls });
    return controls.length;
  });
  expect(count, "visible controls").toBeGreaterThan(2);
}

/** The names of the stored controls that a toast covers now. */
function covered(page: Page): Promise<(string | null)[]> {
  return page.evaluate(() => {
    const { controls } = window as unknown as { controls: Element[] };
    const shown = document.querySelector(".toasts")?.getBoundingClientRect() ?? new DOMRect();
    const boxes = [...document.querySelectorAll(".toast")].map((toast) => {
      const { left, right, top, bottom } = toast.getBoundingClientRect();
      const [inLeft, inRight] = [Math.max(left, shown.left), Math.min(right, shown.right)];
      return { left: inLeft, right: inRight, top: Math.max(top, shown.top), bottom: Math.min(bottom, shown.bottom) };
    });
    const isCovered = (it: Element) => {
      const { left, right, top, bottom } = it.getBoundingClientRect();
      return boxes.some((box) => box.left < right && left < box.right && box.top < bottom && top < box.bottom);
    };
    return controls.filter((it) => it.isConnected && isCovered(it)).map((it) => it.getAttribute("aria-label") ?? it.textContent);
  });
}

/** How much of each toast is visible, from 0 to 1. */
function visibleParts(page: Page): Promise<number[]> {
  return toasts(page).evaluateAll((all) =>
    all.map((toast) => {
      const shown = document.querySelector(".toasts")?.getBoundingClientRect() ?? new DOMRect();
      const { left, right, top, bottom } = toast.getBoundingClientRect();
      if (left >= shown.right || right <= shown.left) return 0;
      return Math.max(0, Math.min(bottom, shown.bottom) - Math.max(top, shown.top)) / (bottom - top);
    }),
  );
}

/** Shows a toast without a link: that of a button that copies, in a browser that blocks copying. */
async function showToast(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    const button = document.createElement("button");
    Object.assign(button.dataset, { button: "copy", copy: "a text", done: "Copied" });
    document.body.append(button);
    button.click();
    button.remove();
  });
}

for (const [width, height] of [[1280, 720], [1600, 900], [768, 560], [1280, 640], [1280, 664], [390, 844]] as const) {
  test.describe(`in a window of ${width} by ${height} px`, () => {
    test.use({ viewport: { width, height } });

    test("toasts cover no controls", async ({ page, api }) => {
      const job = await api.jobThat((job) => job.state === "completed" && job.remote !== null && !!job.remote.pr_link);
      for (const path of [at(`/jobs/${job.id}`), "/account"]) {
        await open(page, path);
        await page.evaluate(() => window.scrollTo(0, 120));
        await remember(page);
        // Every page has this one.
        await showToast(page);
        await showToast(page);
        await expect(toasts(page)).toHaveCount(2);
        expect(await covered(page), path).toEqual([]);
        const [newest, earlier = NaN] = await visibleParts(page);
        expect(newest, "the newest is visible").toBeCloseTo(1);
        expect([0, 1], "an earlier one is visible or not").toContain(Math.round(earlier * 100) / 100);
        await toasts(page).first().getByRole("button", { name: "Dismiss" }).click();
        await expect(toasts(page)).toHaveCount(1);
      }
    });

    test("undo of an archived job covers nothing", async ({ page, api }) => {
      const word = `w${randomUUID().slice(0, 8)}`;
      for (const number of [1, 2]) await api.start(`emulator:slow Number ${number} of ${word}`);
      await open(page, at(`/jobs?q=${word}`));
      const rows = page.getByRole("list", { name: "Jobs" }).getByRole("listitem");
      await rows.first().getByRole("checkbox").check();
      await remember(page);
      await page.getByRole("button", { name: "Archive", exact: true }).click();
      await expect(toasts(page)).toHaveText(/1 job archived/);
      await expect(rows).toHaveCount(1);
      expect(await covered(page)).toEqual([]);
      await toasts(page).getByRole("button", { name: "Undo" }).click();
      await expect(rows).toHaveCount(2);
      await expect(toasts(page)).toHaveCount(0);
      await expect(page.getByRole("status").getByText("Undone: 1 job archived")).toBeAttached();
    });
  });
}

test("sent follow-up is shown and announced without a toast", async ({ page, api }) => {
  const { id } = await api.start("emulator:slow Explain the quotas");
  await open(page, at(`/jobs/${id}`));
  await expect(badge(page, id)).toHaveAttribute("data-status", "active");
  await page.getByLabel("Follow-up").fill("And the limits");
  await page.getByRole("button", { name: "Send follow-up" }).click();
  await expect(page.getByRole("list", { name: "Conversation" }).getByText("And the limits")).toBeVisible();
  await expect(page.getByRole("status").getByText(/^Follow-up: /)).toBeAttached();
  await expect(toasts(page)).toHaveCount(0);
});

for (const held of ["pointer", "focus"] as const) {
  test(`toast stays under the ${held}, and disappears later`, async ({ page }) => {
    await page.clock.install();
    await open(page, "/account");
    await page.getByRole("link", { name: "Skip to content" }).focus();
    await showToast(page);
    const toast = toasts(page);
    await expect(toast).toHaveCount(1);
    if (held === "pointer") await toast.hover();
    else await toast.getByRole("button", { name: "Dismiss" }).focus();
    await page.clock.runFor(30_000);
    await expect(toast).toHaveCount(1);
    if (held === "pointer") await page.mouse.move(600, 300);
    else await page.getByRole("link", { name: "Skip to content" }).focus();
    await page.clock.runFor(30_000);
    await expect(toast).toHaveCount(0);
  });
}

test("toast of a finished job is visible on a phone", async ({ page, api }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const { id } = await api.start("emulator:slow Explain the toasts");
  await open(page, at("/jobs"));
  await expect(badge(page, id)).toHaveAttribute("data-status", "active");
  await page.route("**/api/jobs/statuses", async (route) => {
    const response = await route.fetch();
    const jobs = (await response.json()) as { id: string }[];
    const changed_at = new Date(Date.now() + 60_000).toISOString();
    const done = jobs.map((job) => (job.id === id ? { ...job, state: "completed", status: "completed", changed_at } : job));
    await route.fulfill({ response, json: done });
  });
  // The list shows the new state itself; other pages of this tab have a toast.
  await open(page, at("/templates"));
  // Jobs of other tests may finish, too.
  const link = toasts(page).getByRole("link", { name: /Explain the toasts/ });
  await expect(link).toBeVisible();
  await expect(link).toBeInViewport();
  for (const stop of await toasts(page).locator("a[href], button:not([hidden])").all()) await expect(stop).toBeInViewport();
});

test("dismissed toast gives the focus back", async ({ page }) => {
  await open(page, "/account");
  const before = page.getByRole("link", { name: "Help" });
  await before.focus();
  await showToast(page);
  await showToast(page);
  await toasts(page).first().getByRole("button", { name: "Dismiss" }).focus();
  await page.keyboard.press("Enter");
  await expect(toasts(page)).toHaveCount(1);
  await expect(before).toBeFocused();
  await toasts(page).getByRole("button", { name: "Dismiss" }).focus();
  await page.keyboard.press("Enter");
  await expect(before).toBeFocused();
});
