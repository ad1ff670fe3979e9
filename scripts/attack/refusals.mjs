// `refusals.mjs URL CONNECTIONS`: sends requests that are refused, on many connections at once, until it is stopped. A process of its own, so
// that it does not delay those who measure. Prints the number of responses each second.
import net from "node:net";

const { hostname, port, host } = new URL(process.argv[2]);
// Without `Origin`: not from a page of Docket.
const REQUEST = `DELETE /p/docs/jobs HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
let responses = 0;

function connect() {
  const socket = net.connect({ host: hostname, port: Number(port), localAddress: "127.0.3.1" });
  socket.on("error", () => {});
  socket.on("connect", () => socket.write(REQUEST));
  socket.on("data", (data) => {
    // A response fits in one segment.
    if (!data.includes("HTTP/1.1 403")) return;
    responses++;
    socket.write(REQUEST);
  });
  socket.on("close", () => setTimeout(connect, 100));
}

for (let n = 0; n < Number(process.argv[3]); n++) connect();
setInterval(() => {
  console.log(`${responses} responses`);
  responses = 0;
}, 1_000);
