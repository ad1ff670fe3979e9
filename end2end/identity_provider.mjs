/**
 * An OpenID Connect provider on loopback, for the tests of single sign-on: `node identity_provider.mjs [PORT]`. Prints `issuer URL`
 * when it is ready, and ends with its standard input.
 *
 * Signing in requires a name of `people` and no password. Tests change people at `POST /people/NAME` with their claims as JSON.
 */
import { createPrivateKey, generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Provider } from "oidc-provider";

const CLIENT = { client_id: "docket", client_secret: "the provider knows Docket by this" };

const people = {
  mia: { email: "mia@example.com", email_verified: true, groups: ["writers"] },
  lea: { email: "lea@example.com", email_verified: true, groups: ["everybody", "leads"] },
  una: { email: "una@example.com", email_verified: false, groups: ["writers"] },
  nora: { email: "nora@example.com", email_verified: true, groups: ["everybody"] },
};

const server = createServer();
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = providerAt(issuer);
  const answer = provider.callback();
  server.on("request", (request, response) => {
    const [, place, name] = request.url.split("/");
    if (place === "people") return change(name, request, response);
    if (place === "interaction") return signIn(provider, request, response);
    return answer(request, response);
  });
  console.log(`issuer ${issuer}`);
});
// The parent process may be killed without stopping this one.
process.stdin.resume().on("end", () => process.exit());

function providerAt(issuer) {
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: ["https://docket.example/login/sso/callback"] }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    // Most providers return these claims only at the userinfo endpoint.
    conformIdTokenClaims: process.argv[3] !== "claims-in-token",
    cookies: { keys: [randomUUID()] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    jwks: { keys: [signingKey()] },
    loadExistingGrant,
    pkce: { required: () => true },
  });
  // Docket listens on another port in every test.
  provider.Client.prototype.redirectUriAllowed = (address) => new URL(address).pathname === "/login/sso/callback";
  return provider;
}

/**
 * A new one in each process, as after a change of keys. Not exported from the generated object: Node 20 hangs if it collects garbage meanwhile,
 * because both need one lock.
 */
function signingKey() {
  const encoding = { publicKeyEncoding: { type: "spki", format: "pem" }, privateKeyEncoding: { type: "pkcs8", format: "pem" } };
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048, ...encoding });
  return { ...createPrivateKey(privateKey).export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" };
}

/** No consent page. */
async function loadExistingGrant(context) {
  const { client, session, provider, params } = context.oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(params.scope);
  await grant.save();
  return grant;
}

async function signIn(provider, request, response) {
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html");
    return response.end(
      `<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,"><title>Provider</title><form method="post"><label>Who are you? <input name="name"></label><button>Continue</button></form>`,
    );
  }
  const name = new URLSearchParams(await text(request)).get("name");
  const outcome = people[name] ? { login: { accountId: name } } : { error: "access_denied" };
  return provider.interactionFinished(request, response, outcome, { mergeWithLastSubmission: false });
}

async function change(name, request, response) {
  people[name] = JSON.parse(await text(request));
  response.end("changed\n");
}
