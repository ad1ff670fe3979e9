/** One file is the whole product: alone in a directory, started from another directory, it serves the whole site. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { Binary } from "../fixtures/binary.ts";
import { PROJECT, UNTIL_DONE, at, badge, expect, jobOf, open, startDemo, stopped, test } from "../fixtures/docket.ts";

interface TestResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Sends a request without decoding or redirects. */
function send(url: string, headers: Record<string, string> = {}): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on("error", reject);
    }).on("error", reject);
  });
}

/** The URLs of the stylesheet, the two scripts and the WebAssembly on the sign-in page. */
async function assetsOf(url: string): Promise<string[]> {
  const page = (await send(`${url}/login`)).body.toString();
  const assets = [...page.matchAll(/<link[^>]* href="([^"]+\.(?:css|js|wasm))"/g)].map(([, path]) => path ?? "");
  expect(assets.map((path) => path.split(".").at(-1)).toSorted()).toEqual(["css", "js", "js", "wasm"]);
  return assets.map((path) => new URL(path, url).href);
}

const TYPES: Record<string, RegExp> = {
  css: /^text\/css/,
  js: /^(text|application)\/javascript/,
  wasm: /^application\/wasm$/,
};

test("binary runs alone and creates no files beside it", async ({ binary, demo, page }) => {
  await open(page, at(""));
  expect(demo.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(await binary.neighbours()).toEqual(["docket"]);
  expect(await binary.leftElsewhere()).toEqual([]);
});

test("every page of the site is served with all assets", async ({ page, api }) => {
  const received: { url: string; status: number }[] = [];
  page.on("response", (response) => received.push({ url: response.url(), status: response.status() }));
  const job = await api.jobThat((job) => job.remote !== null);
  for (const path of ["", "/jobs", "/jobs/new", "/analytics", `/jobs/${job.id}`]) await open(page, at(path));
  expect(received.filter(({ status }) => status !== 200)).toEqual([]);
  const types = new Set(received.map(({ url }) => new URL(url).pathname.split(".")[1] ?? "page"));
  expect([...types].toSorted()).toEqual(expect.arrayContaining(["css", "js", "page", "wasm"]));
  const origins = new Set(received.map(({ url }) => new URL(url).origin));
  expect(origins.size, "places that anything came from").toBe(1);
});

test("assets have the smallest accepted encoding and the same content", async ({ demo }) => {
  for (const url of await assetsOf(demo.url)) {
    const plain = await send(url);
    const gzip = await send(url, { "accept-encoding": "gzip" });
    const brotli = await send(url, { "accept-encoding": "gzip, deflate, br, zstd" });
    const refused = await send(url, { "accept-encoding": "br;q=0, gzip;q=0" });
    expect([plain, gzip, brotli, refused].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect([plain, gzip, brotli, refused].map(({ headers }) => headers["content-encoding"])).toEqual([undefined, "gzip", "br", undefined]);
    for (const { headers } of [plain, gzip, brotli]) {
      expect(headers["content-type"]).toMatch(TYPES[url.split(".").at(-1) ?? ""] ?? /^$/);
      expect(headers.vary).toMatch(/accept-encoding/i);
      expect(headers["x-content-type-options"]).toBe("nosniff");
    }
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    expect(refused.body.equals(plain.body)).toBe(true);
    expect(brotli.body.length).toBeLessThan(gzip.body.length);
    expect(gzip.body.length).toBeLessThan(plain.body.length);
  }
});

test("hashed assets are immutable, and others have an ETag", async ({ demo }) => {
  for (const url of await assetsOf(demo.url)) {
    const { headers } = await send(url);
    expect(headers["cache-control"]).toContain("immutable");
    expect(headers["cache-control"]).toMatch(/max-age=\d{7,}/);
  }
  for (const url of [...(await assetsOf(demo.url)), `${demo.url}/favicon.svg`]) {
    const marks = new Set<string>();
    for (const encoding of ["identity", "gzip", "br"]) {
      const { headers } = await send(url, { "accept-encoding": encoding });
      const mark = headers.etag ?? "";
      expect(mark).toMatch(/^"[^"]+"$/);
      marks.add(mark);
      const again = await send(url, { "accept-encoding": encoding, "if-none-match": mark });
      expect(again.status).toBe(304);
      expect(again.body.length).toBe(0);
      expect((await send(url, { "accept-encoding": encoding, "if-none-match": '"other"' })).status).toBe(200);
    }
    expect(marks.size, "each form has a mark of its own").toBe(3);
  }
});

test("missing asset is a 404, and path traversal fails", async ({ demo }) => {
  const [asset = ""] = await assetsOf(demo.url);
  for (const url of [asset.replace(/[^/]+$/, "other.js"), asset.replace(/[^/]+$/, "..%2f..%2fCargo.toml"), `${asset}.br`]) {
    expect((await send(url)).status, url).toBe(404);
  }
});

test("pages are compressed, not cached, and have a policy", async ({ demo }) => {
  const { headers, body } = await send(`${demo.url}/login`, { "accept-encoding": "gzip, deflate, br, zstd" });
  expect(headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(body).toString()).toContain("Sign in to Docket");
  expect(headers["cache-control"]).toBe("no-store");
  expect(headers["content-security-policy"]).toMatch(/script-src 'nonce-[^']{16,}'/);
  expect(headers["content-security-policy"]).not.toContain("unsafe-inline");
  const other = await send(`${demo.url}/login`);
  expect(other.headers["content-security-policy"]).not.toBe(headers["content-security-policy"]);
  expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
});

test("only health and readiness need no session", async ({ demo }) => {
  // The readiness response has only the background tasks with their last success.
  for (const [probe, longest] of [["/healthz", 20], ["/readyz", 1_000]] as const) {
    const { status, body } = await send(demo.url + probe);
    expect(status).toBe(200);
    expect(body.toString().length).toBeLessThan(longest);
    expect(body.toString()).not.toContain(PROJECT);
  }
  for (const path of ["/", at(""), at("/jobs"), "/nowhere"]) {
    const { status, headers } = await send(demo.url + path, { accept: "text/html" });
    expect(status).toBe(303);
    expect(headers.location).toMatch(/^\/login/);
  }
});

test("SIGTERM during a job exits with 0; the page recovers", async ({ serve, visit, trouble }) => {
  test.setTimeout(120_000);
  trouble.expects(/ERR_CONNECTION_REFUSED/);
  const docket = await serve();
  const page = await visit(docket, { storageState: docket.session });
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("emulator:pull-request Outlive a restart");
  await page.getByRole("button", { name: "Start job" }).click();
  const job = await jobOf(page);
  await expect(badge(page, job)).toHaveAttribute("data-status", "active");

  const ended = await docket.processes[0]?.stop("SIGTERM");
  expect(ended?.code, ended?.stderr).toBe(0);
  // A page without moving jobs polls every 15 s, also after a failed request.
  await expect(page.getByText("Docket cannot be reached.")).toBeVisible({ timeout: 20_000 });
  await docket.startAgain();
  await expect(badge(page, job)).toHaveAttribute("data-status", "completed", UNTIL_DONE);
  await expect(page.getByText("Docket cannot be reached.")).toHaveCount(0);
  await page.reload();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("emulator:pull-request Outlive a restart");
});

test("SIGINT ends the demonstration with 0; next reuses its folder", async ({ binary, browser, visit }) => {
  const data = await mkdtemp(join(tmpdir(), "docket-data-"));
  const first = await startDemo(binary, browser, data);
  const page = await visit(first, { storageState: first.session });
  await open(page, at("/jobs/new"));
  await page.getByLabel("Prompt").fill("emulator:slow Outlive a restart");
  await page.getByRole("button", { name: "Start job" }).click();
  const job = await jobOf(page);
  await page.close();
  const ended = await first.processes[0]?.stop("SIGINT");
  expect(ended?.code, ended?.stderr).toBe(0);

  const second = await startDemo(binary, browser, data);
  const again = await visit(second, { storageState: second.session });
  await open(again, at(`/jobs/${job}`));
  await expect(again.getByRole("heading", { level: 1 })).toHaveText("emulator:slow Outlive a restart");
  await expect(badge(again, job)).toHaveAttribute("data-status", /active|completed|failed/);
  await again.close();
  await stopped(second);
  await rm(data, { recursive: true, force: true });
});

test("version and configuration errors are printed before it listens", async ({ binary }) => {
  const version = await binary.run(["--version"]);
  expect(version.code).toBe(0);
  expect(version.stdout).toMatch(/^docket \d+\.\d+\.\d+/);
  const help = await binary.run(["--help"]);
  expect(help.code).toBe(0);
  for (const word of ["serve", "demo", "emulator", "check", "user", "backup", "DOCKET_API_KEY"]) expect(help.stdout).toContain(word);

  const unconfigured = await binary.run(["serve"]);
  expect(unconfigured.code).toBe(2);
  expect(unconfigured.stderr).toMatch(/DOCKET_UPSTREAM_URL/);
  const misspelt = await binary.run(["demo"], { DOCKET_ADDRESS: "127.0.0.1:0" });
  expect(misspelt.code).toBe(2);
  expect(misspelt.stderr).toMatch(/DOCKET_ADDRESS/);
  expect((await binary.run(["dance"])).code).toBe(2);
});

test("configuration file beside the binary is used from any directory", async () => {
  const binary = await Binary.alone();
  await writeFile(join(binary.home, "Leptos.toml"), "adr = \"127.0.0.1:0\"\n");
  const { code, stderr } = await binary.run(["serve"]);
  expect(code).toBe(2);
  expect(stderr).toContain("adr");
  expect(stderr).toContain(join(binary.home, "Leptos.toml"));
  await binary.remove();
});
