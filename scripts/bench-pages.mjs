// Measures page loads in Chromium: the pages of the demonstration on a phone-like machine (4x CPU, 10 Mbit/s, 40 ms, no
// cache), and the time from a click to the next page without throttling. Prints results beside the targets, and does not fail if they are missed.
// Several binaries are measured alternately, with ratios to the first. ROUNDS: loads of each page.
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { PASSWORD, median, withProcesses } from "./bench/docket.mjs";

const require = createRequire(new URL("../end2end/package.json", import.meta.url));
const { chromium } = require("@playwright/test");

const ROUNDS = Number(process.env.ROUNDS ?? 5);
const AIMS = { lcp: 450, tbt: 100, interactive: 600, cls: 0.02, requests: 6, warm: 120 };
const PROJECT = "acme-docs";
const NETWORK = { offline: false, latency: 40, downloadThroughput: (10 * 1e6) / 8, uploadThroughput: (10 * 1e6) / 8 };
const LINKS = ["Jobs", "Analytics", "Overview"];

const binaries = process.argv.slice(2);
await withProcesses(async ({ directory, start }) => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_WITH_WINDOWS, args: ["--no-sandbox", "--disable-quic"] });
  const sides = [];
  for (const [at, binary] of binaries.entries()) sides.push(await signedIn(browser, start, binary, join(directory, `demo-${at}`)));
  console.log(`a page on a phone-like machine, median of ${ROUNDS}   (aims: LCP ${AIMS.lcp} ms, blocked ${AIMS.tbt} ms, interactive ${AIMS.interactive} ms, shift ${AIMS.cls}, ${AIMS.requests} requests)`);
  for (const name of Object.keys(sides[0].paths)) {
    const runs = await alternately(sides, ({ context, paths }) => cold(context, paths[name]));
    runs.forEach((loads, at) => {
      const of = (key, from = loads) => median(from.map((load) => load[key]));
      const time = (key, width) => `${of(key).toFixed(0).padStart(width)} ms${ratio(of(key), of(key, runs[0]))}`;
      console.log(
        `  ${label(name, at)} LCP ${time("lcp", 4)}, blocked ${of("tbt").toFixed(0).padStart(3)} ms, interactive ${time("interactive", 4)}, shift ${of("cls").toFixed(3)}, ${of("requests")} requests, ${(of("bytes") / 1000).toFixed(0)} KB`,
      );
    });
  }
  for (const { page, paths } of sides) {
    await page.goto(paths.overview);
    await hydrated(page);
  }
  console.log(`from a click to LCP, warm   (aim ${AIMS.warm} ms)`);
  const runs = await alternately(sides, async ({ page }) => {
    const times = [];
    for (const link of LINKS) times.push(await click(page, link));
    return times;
  });
  runs.forEach((rounds, at) => {
    const of = (link, from = rounds) => median(from.map((times) => times[link]));
    console.log(`  ${label("", at)} ` + LINKS.map((name, link) => `${name} ${of(link).toFixed(0)} ms${ratio(of(link), of(link, runs[0]))}`).join(", "));
  });
  await browser.close();
});

/** The demonstration of a binary, with a person who is signed in. */
async function signedIn(browser, start, binary, data) {
  const demo = start(binary, ["demo", "--addr", "127.0.0.1:0", "--data", data], { DOCKET_ADMIN_PASSWORD: PASSWORD, DOCKET_LOG: "error" });
  const [, url, username] = await demo.printed(/Address +(\S+)\n +Username +(\S+)\n/);
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 800 } });
  await context.addInitScript(observe);
  const page = await context.newPage();
  await page.goto("/login");
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**/p/${PROJECT}`);
  const list = await (await page.request.post("/api/jobs/list", { form: { project: PROJECT }, headers: { origin: url, accept: "application/json" } })).json();
  const paths = {
    overview: `/p/${PROJECT}`,
    jobs: `/p/${PROJECT}/jobs`,
    job: `/p/${PROJECT}/jobs/${list.jobs[list.jobs.length - 1].id}`,
    "new job": `/p/${PROJECT}/jobs/new`,
    "analytics, 90 days": `/p/${PROJECT}/analytics?from=${daysAgo(90)}&to=${daysAgo(1)}`,
  };
  return { context, page, paths };
}

/** The results of `measure` for each side. The first round fills the caches and is not among them. */
async function alternately(sides, measure) {
  const results = sides.map(() => []);
  for (let round = 0; round < ROUNDS + 1; round++) {
    for (const [at, side] of sides.entries()) {
      const result = await measure(side);
      if (round > 0) results[at].push(result);
    }
  }
  return results;
}

/** The name of a page, and of the binary if there are several. */
function label(name, at) {
  return name.padEnd(20) + (binaries.length > 1 ? ` ${basename(binaries[at]).padEnd(12)}` : "");
}

function ratio(value, first) {
  return binaries.length > 1 ? ` (${(value / first).toFixed(2)})` : "";
}

/** Runs in every page before its own scripts. */
function observe() {
  const seen = (window.__seen = { lcp: 0, cls: 0, long: [], interactive: 0 });
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (seen.lcp = entry.startTime))).observe({ type: "largest-contentful-paint", buffered: true });
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => entry.hadRecentInput || (seen.cls += entry.value))).observe({ type: "layout-shift", buffered: true });
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => seen.long.push(entry.duration))).observe({ type: "longtask", buffered: true });
  new MutationObserver((_, observer) => {
    if (document.documentElement?.dataset.hydrated !== "true") return;
    seen.interactive = performance.now();
    observer.disconnect();
  }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-hydrated"] });
}

async function cold(context, path) {
  const page = await context.newPage();
  const client = await context.newCDPSession(page);
  await client.send("Network.enable");
  await client.send("Network.setCacheDisabled", { cacheDisabled: true });
  await client.send("Network.emulateNetworkConditions", NETWORK);
  await client.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  let requests = 0;
  let bytes = 0;
  let counting = true;
  client.on("Network.requestWillBeSent", () => counting && requests++);
  client.on("Network.loadingFinished", (event) => counting && (bytes += event.encodedDataLength));
  await page.goto(path);
  await hydrated(page);
  counting = false;
  await page.waitForTimeout(500);
  const seen = await page.evaluate(() => window.__seen);
  await page.close();
  const tbt = seen.long.reduce((sum, duration) => sum + Math.max(0, duration - 50), 0);
  return { ...seen, tbt, requests, bytes };
}

async function click(page, name) {
  await Promise.all([page.waitForEvent("load"), page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click()]);
  await hydrated(page);
  await page.waitForTimeout(150);
  return page.evaluate(() => window.__seen.lcp);
}

function hydrated(page) {
  return page.waitForSelector("html[data-hydrated=true]");
}

function daysAgo(days) {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}
