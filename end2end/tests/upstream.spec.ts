/** The state of the upstream for people: its operations and limits, and stored data during an outage. */
import { Api } from "../fixtures/api.ts";
import { PROJECT, at, badge, expect, interactive, open, test } from "../fixtures/docket.ts";

test("administrator sees operations and remaining budgets from the meter", async ({ page, api }) => {
  const job = await api.start("emulator:slow Look at the limits");
  await open(page, at(""));
  await page.getByRole("region", { name: "Hourly budget" }).getByRole("link", { name: "Details" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Platform" })).toBeVisible();
  await interactive(page);
  const operations = page.getByRole("table", { name: "Operations" });
  await expect(operations.getByRole("row", { name: /^Job starts/ })).toContainText("In use");
  const { used, limit } = (await api.budgets()).creates;
  const limits = page.getByRole("table", { name: "Limits of the last 60 minutes" });
  await expect(page.getByText("The times are stored and survive a restart.")).toBeVisible();
  await expect(limits.getByRole("row", { name: /^Job starts Acme Docs/ })).toContainText(`${used} of ${limit}`);
  await api.start("emulator:slow Look at the limits once more");
  await page.getByRole("link", { name: "Refresh" }).click();
  await expect(limits.getByRole("row", { name: /^Job starts Acme Docs/ })).toContainText(`${used + 1} of ${limit}`);
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" }).click();
  await expect(page).toHaveURL(at(""));
  expect(job.state).toBe("active");
});

test("operator cannot open the upstream page", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 403/);
  const operator = { username: "olga", password: "starts-jobs-1", role: "operator" } as const;
  const page = await visit(await serve({ people: [operator] }), { as: operator });
  await open(page, at(""));
  await expect(page.getByRole("link", { name: "Details" })).toHaveCount(0);
  const response = await page.goto("/admin/upstream");
  expect(response?.status()).toBe(403);
  await interactive(page);
  await expect(page.getByRole("alert")).toContainText("Not allowed");
});

test("pages show stored data and a notice during an outage", async ({ serve, visit, trouble }) => {
  trouble.expects(/status of 502/);
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  const job = await new Api(page.request, docket.url, PROJECT).start("emulator:slow Started before the outage");
  const [, emulator] = docket.processes;
  await emulator?.stop();
  // Five failed requests open the circuit breaker.
  for (let days = 1; days <= 5; days++) await page.goto(at(`/analytics?from=2026-01-0${days}&to=2026-01-10`));
  await open(page, at("/jobs"));
  await expect(page.getByText("The platform is failing")).toBeVisible();
  await expect(badge(page, job.id)).toHaveAttribute("data-status", "active");
  await expect(page.getByRole("link", { name: "Started before the outage" })).toBeVisible();
  await open(page, "/admin/upstream");
  await expect(page.getByRole("row", { name: /^Analytics requests Paused/ })).toBeVisible();
});
