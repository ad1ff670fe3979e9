// Measures fetching one day of 1,000 pages for the daily history: calls, time and memory. The upstream is a server in this
// process; it delays its first response until Docket is idle.
import http from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, fetchOk, post, signIn, withProcesses } from "./bench/docket.mjs";

const PAGES = 1_000;
const AIM_CALLS = 4;

const requests = [];
let release;
const atRest = new Promise((resolve) => (release = resolve));
const upstream = http.createServer(answer).listen(0, "127.0.0.1");
await new Promise((resolve) => upstream.once("listening", resolve));

await withProcesses(async ({ directory, start }) => {
  const server = start(process.argv[2], ["serve"], {
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_UPSTREAM_URL: `http://127.0.0.1:${upstream.address().port}`,
    DOCKET_API_KEY: "mint_of_the_bench",
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_HISTORY_DAYS: "1",
    DOCKET_HISTORY_BEFORE: "0",
    DOCKET_LOG_FORMAT: "json",
  });
  const url = await server.url();
  const cookie = await signIn(url);
  await server.until("the history begins", () => requests.length > 0);
  await sleep(500);
  const [before, began] = [server.memory(), performance.now()];
  release();
  await server.until("the day is stored", async () => {
    const { text } = await fetchOk(`${url}/api/history/state`, post(url, { project: "bench" }, cookie));
    return JSON.parse(text).days_done === 1;
  });
  const took = performance.now() - began;
  const pauses = (requests.length - 1) * 100;
  console.log(`day of 1,000 pages      ${requests.length} calls   (must be ${AIM_CALLS})`);
  console.log(
    `day of 1,000 pages      ${took.toFixed(0)} ms, ${pauses} of which are pauses between calls; memory at most ${(server.memory("VmHWM") - before).toFixed(1)} MB above ${before.toFixed(1)} MB`,
  );
});
upstream.close();

async function answer(request, response) {
  const query = new URL(request.url, "http://upstream").searchParams;
  const [offset, limit] = [Number(query.get("offset")), Number(query.get("limit"))];
  requests.push(offset);
  await atRest;
  const end = Math.min(offset + limit, PAGES);
  const views = [];
  for (let n = offset; n < end; n++) {
    views.push({ path: `/guides/part-${n % 40}/how-to-do-the-thing-number-${n}`, human: 3, ai: 2, total: 5 });
  }
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ totals: { human: 3 * PAGES, ai: 2 * PAGES, total: 5 * PAGES }, views, hasMore: end < PAGES }));
}
