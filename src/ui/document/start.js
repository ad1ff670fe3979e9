const script = document.querySelector('link[rel="modulepreload"]').href;
const module = document.querySelector('link[rel="preload"][as="fetch"]').href;
const islands = await import(script);
await islands.default({ module_or_path: module });
if (document.readyState === "loading") {
  await new Promise((parsed) => document.addEventListener("DOMContentLoaded", parsed));
}
islands.hydrate();
window.__hydrateIsland = (island, name) => islands[name]?.(island);
for (const island of document.querySelectorAll("leptos-island")) {
  island.parentElement.closest("leptos-children")?.$$on_hydrate?.();
  window.__hydrateIsland(island, island.dataset.component);
}
