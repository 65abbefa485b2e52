"use strict";
// Filters the rows of tables and jumps between what fails. The page is complete without it.
(() => {
  const failing = ".bad, .known, .broken";
  const judged = `${failing}, .good, .departing`;
  const main = document.querySelector("main");
  const tools = document.getElementById("tools");
  const tables = [...main.querySelectorAll("table")].filter((table) => table.tHead && table.querySelector(judged));
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  if (rows.length === 0) return;
  const make = (tag, properties, parent) => parent.appendChild(Object.assign(document.createElement(tag), properties));

  const textLabel = make("label", { textContent: "Filter rows " }, tools);
  const text = make("input", { type: "search" }, textLabel);
  const onlyLabel = make("label", {}, tools);
  const only = make("input", { type: "checkbox" }, onlyLabel);
  onlyLabel.append(" only what does not pass");
  const next = make("button", { type: "button", textContent: "Next that does not pass" }, tools);
  const status = make("span", { className: "faint" }, tools);
  status.setAttribute("role", "status");

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const content = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => content.includes(word)) || (only.checked && !row.querySelector(failing));
      shown += !row.hidden;
    }
    const active = words.length > 0 || only.checked;
    status.textContent = active ? `${shown} of ${rows.length} rows` : "";
    if (active) for (const row of rows) if (!row.hidden) row.closest("details.fold")?.setAttribute("open", "");
  }

  let at = -1;
  function jump() {
    const cells = [...main.querySelectorAll("details.cell > summary")].filter(
      (one) => one.querySelector(failing) && !one.closest("tr").hidden,
    );
    if (cells.length === 0) { status.textContent = "no cell of a table"; return; }
    at = (at + 1) % cells.length;
    cells[at].parentElement.open = true;
    cells[at].scrollIntoView({ block: "center" });
    cells[at].focus();
    status.textContent = `${at + 1} of ${cells.length} cells`;
  }

  function open() {
    const target = document.getElementById(location.hash.slice(1));
    for (let one = target?.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
    if (target?.classList.contains("why")) target.previousElementSibling.scrollIntoView({ block: "center" });
  }

  function close(event) {
    const cell = event.key === "Escape" && document.querySelector("details.cell[open]");
    if (cell) { cell.open = false; cell.querySelector("summary").focus(); }
  }

  text.addEventListener("input", filter);
  only.addEventListener("change", filter);
  next.addEventListener("click", jump);
  document.addEventListener("keydown", close);
  window.addEventListener("hashchange", open);
  open();
})();
