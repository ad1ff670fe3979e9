// Measures the overhead of Docket on one upstream call: the same queries to the emulator directly and through Docket, one after
// another and at a steady rate, alternating within one run. Every query is different, so that none is served from the cache.
import http from "node:http";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { PASSWORD, PLENTY, fetchOk, post, quantile, signIn, withProcesses } from "./bench/docket.mjs";

// Each call is counted over the last hour, which has about a hundred in real use.
const CALLS_A_TURN = 100;
const RATE = 200;
const SECONDS_A_TURN = 5;
const TURNS = 3;

const binary = process.argv[2];
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
let offset = 0;

await withProcesses(async ({ directory, start }) => {
  const emulator = start(binary, ["emulator", "--addr", "127.0.0.1:0", "--projects", "bench", "--per-hour", PLENTY]);
  const { url: upstream, key } = await emulator.upstream();
  const server = start(binary, ["serve"], {
    DOCKET_ADDR: "127.0.0.1:0",
    DOCKET_UPSTREAM_URL: upstream,
    DOCKET_API_KEY: key,
    DOCKET_PROJECTS: "bench=Bench",
    DOCKET_DATABASE_URL: `sqlite://${directory}/docket.db`,
    DOCKET_ADMIN_PASSWORD: PASSWORD,
    DOCKET_ANALYTICS_PER_HOUR: PLENTY,
    DOCKET_ANALYTICS_PER_PERSON: PLENTY,
    // Disables the daily history.
    DOCKET_ANALYTICS_RESERVE: PLENTY,
    DOCKET_LOG_FORMAT: "json",
    // Reading log lines in this process would distort the times of the calls.
    DOCKET_LOG: "info,docket::access=warn",
  });
  const url = await server.url();
  const cookie = await signIn(url);

  const direct = () =>
    fetchOk(`${upstream}/v1/analytics/bench/views?dateFrom=2026-01-01&dateTo=2026-01-29&limit=1&offset=${offset++ % 600}`, {
      headers: { authorization: `Bearer ${key}` },
      agent,
    });
  const through = () =>
    fetchOk(`${url}/api/analytics/views`, { ...post(url, { project: "bench", limit: 1, offset: offset++ }, cookie), agent });

  for (const [turn, how] of [[oneByOne, "one after another"], [steady, `at ${RATE} a second`]]) {
    await turn(direct);
    await turn(through);
    const times = { direct: [], through: [] };
    for (let n = 0; n < TURNS; n++) {
      times.direct.push(...(await turn(direct)));
      times.through.push(...(await turn(through)));
    }
    for (const [name, share, aim] of [["p50", 0.5, 1], ["p99", 0.99, 3]]) {
      const [alone, panelled] = [quantile(times.direct, share), quantile(times.through, share)];
      console.log(
        `upstream call, ${name}      ${(panelled - alone).toFixed(2)} ms added by Docket   (aim ${aim} ms; ${alone.toFixed(2)} ms directly, ${panelled.toFixed(2)} ms through it, ${(panelled / alone).toFixed(1)} times; ${times.through.length} calls ${how})`,
      );
    }
  }
});
agent.destroy();

/** The milliseconds of each request of one round; each is sent after the response to the previous one. */
async function oneByOne(request) {
  const times = [];
  for (let n = 0; n < CALLS_A_TURN; n++) {
    const sent = performance.now();
    await request();
    times.push(performance.now() - sent);
  }
  return times;
}

/** The milliseconds of each request of one round, sent at a steady rate independent of the responses. */
async function steady(request) {
  const began = performance.now();
  const answers = [];
  for (let n = 0; n < RATE * SECONDS_A_TURN; n++) {
    const due = began + (n * 1000) / RATE;
    if (due > performance.now()) await sleep(due - performance.now());
    const sent = performance.now();
    answers.push(request().then(() => performance.now() - sent));
  }
  return Promise.all(answers);
}
