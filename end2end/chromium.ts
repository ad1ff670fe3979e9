/** The Chromium of `scripts/env.sh`, without its own background requests. */
import type { PlaywrightTestConfig } from "@playwright/test";

export const chromium: NonNullable<PlaywrightTestConfig["use"]> = {
  browserName: "chromium",
  headless: true,
  locale: "en-GB",
  timezoneId: "UTC",
  launchOptions: {
    executablePath: process.env.CHROMIUM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  },
};
