/** The scripts in screenshots/ drive `docket demo`, and compare its pages with docs/screenshots. `make screenshots` writes those that differ. */
import { defineConfig } from "@playwright/test";
import { chromium } from "./chromium.ts";

export default defineConfig({
  testDir: "./screenshots",
  testMatch: "**/*.ts",
  outputDir: "./test-results/screenshots",
  snapshotPathTemplate: "../docs/screenshots/{arg}{ext}",
  updateSnapshots: "none",
  workers: 1,
  retries: 0,
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: "./test-results/screenshots.json" }]],
  use: { ...chromium, viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 },
});
