// The picker of keys: a text box with a list below it, which the server searches.

/** `find(text)` gives {keys: [{key, label}], total}; `chosen(key)` is told what was picked. */
export class Picker {
  constructor(input, list, find, chosen) {
    this.input = input;
    this.list = list;
    this.find = find;
    this.chosen = chosen;
    this.label = "";
    this.options = [];
    this.active = -1;
    this.asked = 0;
    input.addEventListener("focus", () => { input.select(); this.search(""); });
    input.addEventListener("click", () => { if (list.hidden) this.search(""); });
    input.addEventListener("input", () => this.search(input.value));
    input.addEventListener("keydown", (event) => this.key(event));
    input.addEventListener("blur", () => this.close());
    list.addEventListener("mousedown", (event) => event.preventDefault()); // keep the focus
    list.addEventListener("click", (event) => {
      const at = [...list.children].indexOf(event.target.closest("li"));
      if (at >= 0) this.pick(at);
    });
  }

  /** Show what is picked, unless the user is typing. */
  show(label) {
    this.label = label;
    if (this.list.hidden) this.input.value = label;
  }

  async search(text) {
    this.asked += 1;
    const asked = this.asked;
    const { keys, total } = await this.find(text);
    if (asked !== this.asked || document.activeElement !== this.input) return;
    this.options = keys;
    this.list.replaceChildren(...keys.map(({ label }, at) => this.item(label, at)));
    if (total !== keys.length || total === 0) {
      const more = document.createElement("li");
      more.className = "more";
      more.textContent = total === 0 ? "nothing found" : `${(total - keys.length).toLocaleString("en")} more: type to search`;
      this.list.append(more);
    }
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    const now = keys.findIndex(({ label }) => label === this.label);
    this.mark(text && keys.length ? 0 : now);
  }

  item(label, at) {
    const item = document.createElement("li");
    item.id = `key-option-${at}`;
    item.setAttribute("role", "option");
    item.textContent = label;
    item.title = label;
    return item;
  }

  mark(at) {
    this.active = at;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
    if (at >= 0) this.input.setAttribute("aria-activedescendant", `key-option-${at}`);
    else this.input.removeAttribute("aria-activedescendant");
  }

  key(event) {
    const last = this.options.length - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.search("");
      else this.mark(Math.min(last, Math.max(0, this.active + (event.key === "ArrowDown" ? 1 : -1))));
    } else if (event.key === "Enter") this.pick(this.active);
    else if (event.key === "Escape") this.close();
  }

  pick(at) {
    if (!this.options[at]) return;
    const { key, label } = this.options[at];
    this.label = label;
    this.close();
    this.chosen(key, label);
  }

  close() {
    this.asked += 1;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.value = this.label;
  }
}
