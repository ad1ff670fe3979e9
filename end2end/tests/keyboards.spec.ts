/** Keyboards of other scripts, and input methods, which compose a text from several keys. */
import type { Page } from "@playwright/test";
import { at, expect, open, test } from "../fixtures/docket.ts";

const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" });

/** A key as a browser reports it. */
interface Key {
  key: string;
  code: string;
  ctrlKey?: boolean;
  isComposing?: boolean;
  keyCode?: number;
}

/** Presses a key at what has the focus. Returns whether the page handled it. */
function press(page: Page, event: Key): Promise<boolean> {
  return page.evaluate((init) => {
    const event = new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init });
    return !(document.activeElement ?? document.body).dispatchEvent(event);
  }, event);
}

for (const [layout, letter] of [["Russian", "л"], ["Greek", "κ"], ["Hebrew", "ל"], ["Arabic", "ن"], ["Korean", "ㅏ"], ["Latin", "k"]] as const) {
  test(`Ctrl+K opens the palette on a ${layout} keyboard`, async ({ page }) => {
    await open(page, at("/jobs"));
    expect(await press(page, { key: letter, code: "KeyK", ctrlKey: true })).toBe(true);
    await expect(palette(page)).toBeVisible();
  });
}

test("letter shortcuts work on a Russian keyboard", async ({ page }) => {
  await open(page, at("/jobs"));
  await press(page, { key: "п", code: "KeyG" });
  await press(page, { key: "ф", code: "KeyA" });
  await expect(page).toHaveURL(at("/analytics"));
});

test("letter of a Dvorak keyboard is the one that is written on it", async ({ page }) => {
  await open(page, at("/jobs"));
  expect(await press(page, { key: "t", code: "KeyK", ctrlKey: true })).toBe(false);
  expect(await press(page, { key: "k", code: "KeyV", ctrlKey: true })).toBe(true);
  await expect(palette(page)).toBeVisible();
});

test("Enter and arrows of a composition choose nothing in the palette", async ({ page }) => {
  await open(page, at("/jobs"));
  await page.keyboard.press("Control+k");
  const chosen = palette(page).getByRole("option", { selected: true });
  const first = await chosen.getAttribute("id");
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
    expect(await press(page, { key: "ArrowDown", code: "ArrowDown", ...composing })).toBe(false);
    expect(await press(page, { key: "Enter", code: "Enter", ...composing })).toBe(false);
    expect(await press(page, { key: "Escape", code: "Escape", ...composing })).toBe(false);
  }
  await expect(chosen).toHaveAttribute("id", first as string);
  await expect(palette(page)).toBeVisible();
  await expect(page).toHaveURL(at("/jobs"));
  expect(await press(page, { key: "ArrowDown", code: "ArrowDown" })).toBe(true);
});

test("Ctrl+Enter during a composition does not send", async ({ page }) => {
  let posts = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/api/jobs/create")) posts += 1;
  });
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("にほんご");
  for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
    expect(await press(page, { key: "Enter", code: "Enter", ctrlKey: true, ...composing })).toBe(false);
  }
  await expect(page).toHaveURL(at("/jobs/new"));
  expect(posts).toBe(0);
});

test("text of dictation software starts no shortcut, and two quick keys do", async ({ page }) => {
  await open(page, at("/jobs"));
  for (const letter of "jack?") await press(page, { key: letter, code: `Key${letter.toUpperCase()}` });
  await page.evaluate(() => new Promise((decided) => setTimeout(decided, 300)));
  await expect(page).toHaveURL(at("/jobs"));
  await expect(page.getByRole("dialog")).toBeHidden();
  // Three different letters that arrive at once are a text, but not two.
  await press(page, { key: "g", code: "KeyG" });
  await press(page, { key: "t", code: "KeyT" });
  await expect(page).toHaveURL(at("/templates"));
});

test("held key moves from row to row", async ({ page }) => {
  await open(page, at("/jobs"));
  const rows = page.getByRole("list", { name: "Jobs" }).locator(".job-title");
  await page.keyboard.press("j");
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.down("j");
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.down("j");
  await page.keyboard.down("j");
  await expect(rows.nth(3)).toBeFocused();
  await page.keyboard.up("j");
});
