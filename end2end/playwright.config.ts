/** How the browser tests run. Each test starts the server it needs itself, through a fixture, so there is no web server here. */
import { defineConfig } from "@playwright/test";
import { chromium } from "./chromium.ts";

export default defineConfig({
  testDir: "./tests",
  outputDir: "./test-results/artifacts",
  fullyParallel: true,
  // On two cores: a test waits for a third of its time.
  workers: 3,
  forbidOnly: true,
  // A busy machine is no failure. What needed its second try is named at the end, and a test that needs it on a quiet machine
  // is a defect.
  retries: 1,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [["list"], ["json", { outputFile: "./test-results/results.json" }]],
  use: {
    ...chromium,
    // Recorded for every test, it would take a third of the time.
    trace: "on-first-retry",
    screenshot: "only-on-failure",
  },
});
