// Posting advice in a forum's own editor: one plain script, no build step, nothing loaded from elsewhere.
//
//   <script src="/forum-advice.js" data-advisor="https://advice.example" data-token-url="/advice-token" defer></script>
//
// It watches every editor that `data-fields` selects, also those that appear later, and writes one sentence below each.
// data-advisor: origin of the service; empty where the forum passes questions on.
// data-token-url: address of the forum that answers {"token": "..."} for whoever is signed in; leave it out where the
//   forum adds the token itself.

(() => {
  const FIELDS = "textarea.d-editor-input, textarea[data-advice]";
  const PAUSE = 400; // milliseconds after the last keystroke
  const PATIENCE = 15_000;
  const watched = new WeakSet();

  function start({ advisor = "", tokenUrl = "", fields = FIELDS } = {}) {
    const service = { advisor: advisor.replace(/\/+$/, ""), tokenUrl, token: null };
    const look = () => document.querySelectorAll(fields).forEach((field) => watch(field, service));
    new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
    look();
  }

  function watch(field, service) {
    if (watched.has(field)) return;
    watched.add(field);
    const hint = document.createElement("p");
    hint.className = "recloak-advice";
    hint.setAttribute("role", "status");
    hint.dir = "auto";
    (field.closest(".d-editor-textarea-wrapper") ?? field).after(hint);
    let timer, asking;
    const check = async () => {
      asking?.abort();
      if (field.value.trim() === "") return void (hint.textContent = "");
      asking = new AbortController();
      const { signal } = asking;
      const words = await advise(service, field.value, signal);
      if (!signal.aborted) hint.textContent = words; // text only ever becomes text
    };
    const soon = () => {
      asking?.abort(); // an answer to an older draft is never shown
      clearTimeout(timer);
      timer = setTimeout(check, PAUSE);
    };
    field.addEventListener("input", soon);
    if (field.value) soon();
  }

  async function advise(service, text, signal) {
    try {
      let response = await ask(service, text, signal);
      if (response.status === 401 && service.tokenUrl) {
        service.token = null; // expired: the forum signs a new one
        response = await ask(service, text, signal);
      }
      const answer = await response.json();
      return response.ok ? sentence(answer) : answer.error.message;
    } catch {
      return "No advice just now.";
    }
  }

  async function ask(service, text, signal) {
    const headers = { "Content-Type": "application/json" };
    if (service.tokenUrl && !service.token) service.token = await fetchToken(service.tokenUrl, signal);
    if (service.token) headers.Authorization = `Bearer ${service.token}`;
    const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]);
    const body = JSON.stringify({ text });
    return fetch(`${service.advisor}/api/v1/advice`, { method: "POST", headers, body, signal: late });
  }

  async function fetchToken(url, signal) {
    const response = await fetch(url, { credentials: "same-origin", headers: { Accept: "application/json" }, signal });
    if (!response.ok) throw new Error("no token");
    return (await response.json()).token;
  }

  function sentence({ finds, after, hidden, cheapest }) {
    if (finds?.length === 0) return "";
    const now = `With this post you would be ${after.words}.`;
    if (hidden || !cheapest) return now;
    const steps = [
      ...(cheapest.drop ?? []).map(({ title }) => `leave out ${title}`),
      ...(cheapest.add ?? []).map(({ title }) => `add ${title}`),
    ];
    return steps.length === 0 ? now : `${now} To hide among others: ${steps.join(", ")}.`;
  }

  window.recloakAdvice = { start };
  const own = document.currentScript?.dataset;
  if (own && (own.advisor !== undefined || own.tokenUrl !== undefined || own.fields !== undefined)) start(own);
})();
