/** The Chromium that `scripts/env.sh` names, kept from asking the network for anything of its own. */
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
