/** `/mcp`, called by the official client of the Model Context Protocol. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Binary } from "../fixtures/binary.ts";
import { type Demo, expect, PROJECT, test } from "../fixtures/docket.ts";

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
    "list_jobs",
    "get_job",
    "start_job",
    "send_follow_up",
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

test("client with a token for reading gets no tools that write", async ({ binary, demo, person }) => {
  const client = await connected(binary, demo, person.username, "analytics:read");
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toEqual(["page_views", "falling_pages"]);
  const views = await client.callTool({ name: "page_views", arguments: { project: PROJECT, limit: 3 } });
  expect(views.structuredContent).toMatchObject({ rows_total: expect.any(Number) });
  await client.close();
});
