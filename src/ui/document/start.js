// Starts the islands, each after those around it. Leptos's own script waits for an idle moment and then visits every element of the page.
const script = document.querySelector('link[rel="modulepreload"]').href;
const module = document.querySelector('link[rel="preload"][as="fetch"]').href;
const islands = await import(script);
await islands.default({ module_or_path: module });
if (document.readyState === "loading") {
  await new Promise((parsed) => document.addEventListener("DOMContentLoaded", parsed));
}
islands.hydrate();
// A refresh uses this for the islands that it inserts.
window.__hydrateIsland = (island, name) => islands[name]?.(island);
for (const island of document.querySelectorAll("leptos-island")) {
  island.parentElement.closest("leptos-children")?.$$on_hydrate?.();
  window.__hydrateIsland(island, island.dataset.component);
}
