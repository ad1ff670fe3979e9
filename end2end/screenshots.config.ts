/** `make screenshots`: the scripts in screenshots/ drive `docket demo` and write docs/screenshots. */
import { defineConfig } from "@playwright/test";
import { chromium } from "./chromium.ts";

export default defineConfig({
  testDir: "./screenshots",
  testMatch: "**/*.ts",
  outputDir: "./test-results/screenshots",
  workers: 1,
  retries: 0,
  timeout: 120_000,
  reporter: "list",
  use: { ...chromium, viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2 },
});
