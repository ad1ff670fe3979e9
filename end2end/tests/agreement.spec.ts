/** “Does it agree?”: the daily history of the demonstration has the platform's own figures. */
import { day, grouped, inUrl, stored } from "../fixtures/days.ts";
import { PROJECT, at, expect, interactive, test } from "../fixtures/docket.ts";
import { sum } from "../fixtures/emulator.ts";

/** Final days, others in each test: the page shows the answer of an earlier comparison. */
const RANGES = { with: { from: day(10), to: day(4) }, without: { from: day(20), to: day(14) } };

for (const [how, range] of Object.entries(RANGES)) {
  test(`administrator compares the history with the platform, ${how} JavaScript`, async ({ demo, visit, person, api, emulator }) => {
    test.setTimeout(300_000);
    await stored(api, range);
    const javaScriptEnabled = how === "with";
    const page = await visit(demo, { storageState: person.session, javaScriptEnabled });
    const analytics = `${at("/analytics")}?${inUrl(range)}`;
    await page.goto(analytics);
    if (javaScriptEnabled) await interactive(page);
    await page.getByRole("link", { name: "Compare with the platform’s own figures" }).click();
    const check = `${at("/analytics/check")}?${inUrl(range)}`;
    await expect(page).toHaveURL(check);
    await expect(page.getByRole("heading", { level: 1, name: "Does it agree?" })).toBeVisible();
    await expect(page.getByText(/^Comparing makes up to 3 requests to the platform, of the [\d,]+ per hour/)).toBeVisible();
    const totals = page.getByRole("table", { name: "Totals" });
    await expect(totals).toHaveCount(0);
    if (javaScriptEnabled) await interactive(page);

    await page.getByRole("button", { name: "Compare" }).click();
    await expect(page.getByText("The daily history and the platform agree.")).toBeVisible();
    await expect(page).toHaveURL(check);
    const { human, ai, total } = sum(await emulator.pages(PROJECT, range));
    const rows = [["People", human], ["AI", ai], ["All", total]] as const;
    const cells = await totals.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim())));
    expect(cells).toEqual(rows.map(([name, views]) => [name, grouped(views), grouped(views), "0"]));
    await expect(page.getByRole("table", { name: "Pages that differ" })).toHaveCount(0);
  });
}
