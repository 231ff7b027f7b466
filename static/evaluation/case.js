// Lights up the messages that a pair cites, and the pairs that cite a message.

const page = document.querySelector("[data-case]");

function sourcesOf(pair) {
  return pair.dataset.sources.split(" ").filter(Boolean);
}

function light(event) {
  const pair = event.target.closest("[data-sources]");
  const message = event.target.closest("[data-message]");
  const wanted = new Set(pair ? sourcesOf(pair) : []);
  for (const one of page.querySelectorAll("[data-message]")) {
    one.classList.toggle("lit", wanted.has(one.dataset.message));
  }
  for (const one of page.querySelectorAll("[data-sources]")) {
    const cites = message !== null && sourcesOf(one).includes(message.dataset.message);
    one.classList.toggle("lit", cites);
  }
}

page?.addEventListener("mouseover", light);
page?.addEventListener("focusin", light);
