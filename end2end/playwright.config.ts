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
  // A test that fails now and then has a defect, or Docket has one.
  retries: 0,
  // Long, because a busy machine is no defect.
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: "./test-results/results.json" }]],
  use: {
    ...chromium,
    // Recording every test would need a third of the time.
    trace: "off",
    screenshot: "only-on-failure",
  },
});
