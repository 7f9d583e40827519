"use strict";
(() => {
  const rows = [...document.querySelectorAll(".requirement")];
  const filters = document.getElementById("filters");
  const search = document.getElementById("search");
  const boxes = [...filters.querySelectorAll("input[type=checkbox]")];
  const status = document.getElementById("shown");
  const known = new Map();

  // The texts of a requirement that are searched: its ID, its statement, and its findings (scenario, expected, seen).
  const textOf = (row) => {
    if (!known.has(row)) {
      known.set(row, [...row.querySelectorAll("[data-find]")].map((part) => part.textContent).join("\n").toLowerCase());
    }
    return known.get(row);
  };

  const filter = () => {
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      row.hidden = !(wanted.has(row.dataset.verdict) && words.every((word) => textOf(row).includes(word)));
      count += row.hidden ? 0 : 1;
    }
    for (const section of document.querySelectorAll(".section")) {
      section.hidden = !section.querySelector(".requirement:not([hidden])");
    }
    status.textContent = count === rows.length ? `All ${count} are shown.` : `${count} of ${rows.length} are shown.`;
  };

  const remember = () => {
    const state = new URLSearchParams();
    const wanted = boxes.filter((box) => box.checked).map((box) => box.value);
    if (wanted.length < boxes.length) state.set("verdict", wanted.join(" "));
    if (search.value) state.set("find", search.value);
    const text = state.toString();
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  };

  const open = (target) => {
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
      if (at.hidden) at.hidden = false;
    }
    (target.closest(".requirement, .talk") || target).scrollIntoView();
  };

  // The part of the address after "#" names an element of the page, or the filter to use.
  const follow = () => {
    const text = location.hash.slice(1);
    let name = text;
    try { name = decodeURIComponent(text); } catch { /* no name of ours */ }
    const target = text && document.getElementById(name);
    if (target) {
      open(target);
      return;
    }
    const state = new URLSearchParams(text);
    const wanted = state.has("verdict") ? state.get("verdict").split(" ") : null;
    for (const box of boxes) box.checked = !wanted || wanted.includes(box.value);
    search.value = state.get("find") || "";
    filter();
  };

  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };

  const addButtons = (place) => {
    for (const command of place.querySelectorAll(".command:not(:has(button))")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy this command");
      command.append(button);
    }
  };

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.hash === location.hash) follow();
    const button = event.target.closest(".command button");
    if (!button) return;
    const done = await copied(button.parentElement.querySelector("code").textContent);
    document.getElementById("said").textContent = done ? "The command is copied." : "It cannot be copied here.";
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  document.addEventListener("toggle", (event) => { if (event.target.open) addButtons(event.target); }, true);
  filters.addEventListener("input", () => { filter(); remember(); });
  document.getElementById("all").addEventListener("click", () => {
    for (const box of boxes) box.checked = true;
    search.value = "";
    filter();
    remember();
  });
  window.addEventListener("hashchange", follow);
  filters.hidden = false;
  addButtons(document.getElementById("causes"));
  addButtons(document.getElementById("broken") || document.createElement("p"));
  filter();
  follow();
})();
