/** `/mcp`, called by the official client of the Model Context Protocol. */
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Binary } from "../fixtures/binary.ts";
import { day, stored } from "../fixtures/days.ts";
import { type Demo, expect, PROJECT, test } from "../fixtures/docket.ts";
import { sum } from "../fixtures/emulator.ts";

/** A connected client, with a token of these scopes. */
async function connected(binary: Binary, demo: Demo, username: string, scopes: string): Promise<Client> {
  const environment = { DOCKET_DATABASE_URL: `sqlite://${demo.data}/demo.db` };
  const created = await binary.run(["token", "create", "--user", username, "--name", "Agent", "--scopes", scopes], environment);
  expect(created.code, created.stderr).toBe(0);
  const headers = { authorization: `Bearer ${created.stdout.trim()}` };
  const client = new Client({ name: "browser-tests", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", demo.url), { requestInit: { headers } }));
  return client;
}

test("official client lists tools, starts a job once and reads it", async ({ binary, demo, person }) => {
  const client = await connected(binary, demo, person.username, "jobs:read,jobs:write,analytics:read");
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual([
    "list_projects",
    "list_jobs",
    "get_job",
    "list_templates",
    "list_budgets",
    "start_job",
    "send_follow_up",
    "cancel_job",
    "page_views",
    "falling_pages",
  ]);
  const start = { project: PROJECT, prompt: "Fix typos in the quickstart", idempotency_key: "mcp-1" };
  const [first, second] = [
    await client.callTool({ name: "start_job", arguments: start }),
    await client.callTool({ name: "start_job", arguments: start }),
  ];
  const job = first.structuredContent as { id: string; state: string };
  expect(second.structuredContent).toMatchObject({ id: job.id });
  const read = await client.callTool({ name: "get_job", arguments: { project: PROJECT, job: job.id } });
  expect(read.structuredContent).toMatchObject({ id: job.id, prompt: start.prompt, author: person.username });
  await client.close();
});

test("official client gets the code and the field of an error", async ({ binary, demo, person }) => {
  const client = await connected(binary, demo, person.username, "jobs:read,jobs:write");
  const refused = await client.callTool({ name: "list_jobs", arguments: { project: PROJECT, status: "sleeping" } });
  expect(refused.isError).toBe(true);
  expect(refused.structuredContent).toMatchObject({ code: "bad_input", status: 400, retry_after: null, errors: [{ field: "status" }] });
  const missing = await client.callTool({ name: "cancel_job", arguments: { project: "nowhere", job: "x" } });
  expect(missing.structuredContent).toMatchObject({ code: "not_found", status: 404 });
  await client.close();
});

test("optional arguments may be null, and each result is an object with the same JSON as text", async ({ binary, demo, person }) => {
  const client = await connected(binary, demo, person.username, "jobs:read,jobs:write,analytics:read");
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const listed = { project: PROJECT, status: null, q: null, limit: null, cursor: null };
  const started = { project: PROJECT, prompt: "Fix links", pages: null, idempotency_key: "mcp-null", queue: null };
  const viewed = { project: PROJECT, from: null, to: null, q: null, limit: null, offset: null };
  await expect
    .poll(async () => {
      const falling = await client.callTool({ name: "falling_pages", arguments: { project: PROJECT, from: yesterday, to: yesterday } });
      return falling.structuredContent;
    }, { timeout: 60_000 })
    .toMatchObject({ pages: expect.any(Array) });
  for (const [name, given] of [["list_jobs", listed], ["start_job", started], ["page_views", viewed]] as const) {
    const result = await client.callTool({ name, arguments: given });
    expect(result.isError, name).toBeFalsy();
    const [block] = result.content as { type: string; text: string }[];
    const [mark, json] = block!.text.split(/\n(.*)/s);
    expect(mark).toContain("untrusted data");
    expect(JSON.parse(json!)).toEqual(result.structuredContent);
  }
  await client.close();
});

test("client that looks for a server of OAuth learns that there is none", async ({ demo }) => {
  const visited: URL[] = [];
  const provider: OAuthClientProvider = {
    redirectUrl: "http://127.0.0.1/callback",
    clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"], client_name: "browser-tests" },
    clientInformation: () => undefined,
    saveClientInformation: () => {},
    tokens: () => undefined,
    saveTokens: () => {},
    redirectToAuthorization: (url) => void visited.push(url),
    saveCodeVerifier: () => {},
    codeVerifier: () => "",
  };
  const answers: { path: string; status: number; redirected: boolean }[] = [];
  const recorded: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    answers.push({ path: new URL(input instanceof Request ? input.url : input).pathname, status: answer.status, redirected: answer.redirected });
    return answer;
  };
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", demo.url), { authProvider: provider, fetch: recorded });
  const client = new Client({ name: "browser-tests", version: "1" });
  await expect(client.connect(transport)).rejects.toThrow(/404|no such endpoint|register/i);
  expect(visited).toEqual([]);
  const [first, ...others] = answers;
  expect(first).toMatchObject({ path: "/mcp", status: 401 });
  expect(others.some((answer) => answer.path.startsWith("/.well-known/"))).toBe(true);
  expect(others.some((answer) => answer.path === "/register")).toBe(true);
  expect(others.filter((answer) => answer.status !== 404 || answer.redirected)).toEqual([]);
});

test("client with a token for reading gets no tools that write", async ({ binary, demo, person, api, emulator }) => {
  const yesterday = { from: day(1), to: day(1) };
  await stored(api, yesterday);
  const pages = await emulator.pages(PROJECT, yesterday);
  const client = await connected(binary, demo, person.username, "analytics:read");
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(["list_projects", "page_views", "falling_pages"]);
  const views = await client.callTool({ name: "page_views", arguments: { project: PROJECT, limit: 3, ...yesterday } });
  expect(views.structuredContent).toMatchObject({ rows: pages.slice(0, 3), rows_total: pages.length, totals: sum(pages) });
  await client.close();
});
