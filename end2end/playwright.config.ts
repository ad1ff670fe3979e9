/** The configuration of the browser tests. Each test starts its own server through a fixture, so there is no web server here. */
import { defineConfig } from "@playwright/test";
import { chromium } from "./chromium.ts";

export default defineConfig({
  testDir: "./tests",
  outputDir: "./test-results/artifacts",
  fullyParallel: true,
  // On two cores: a test waits for a third of its time.
  workers: 3,
  forbidOnly: true,
  // A busy machine is no failure. The report lists tests that needed a second try. A test that needs it on an idle machine
  // has a defect.
  retries: 1,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [["list"], ["json", { outputFile: "./test-results/results.json" }]],
  use: {
    ...chromium,
    // Recording every test would need a third of the time.
    trace: "on-first-retry",
    screenshot: "only-on-failure",
  },
});
