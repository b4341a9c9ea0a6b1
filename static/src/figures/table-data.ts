/* Reads the numbers of a figure from the table behind it: the table is on the page, so each number stands in one place. */

export interface TableCell {
  /** The number in base units, or null for a cell without one. */
  value: number | null;
  /** The cell as it reads, without the marks of its chips. */
  text: string;
  element: HTMLElement;
}

export interface TableRow {
  id: string;
  name: string;
  element: HTMLTableRowElement;
  cells: Readonly<Record<string, TableCell>>;
}

/** Rows with `data-row`, their cells with `data-cell`. */
export function rowsOf(table: HTMLTableElement): TableRow[] {
  return [...table.querySelectorAll<HTMLTableRowElement>("tr[data-row]")].map((row) => ({
    id: row.dataset.row ?? "",
    name: readable(row.querySelector("th")),
    element: row,
    cells: Object.fromEntries(
      [...row.querySelectorAll<HTMLElement>("[data-cell]")].map((cell) => [
        cell.dataset.cell,
        {
          value: cell.dataset.value === undefined ? null : Number(cell.dataset.value),
          text: readable(cell),
          element: cell,
        },
      ]),
    ),
  }));
}

/** Text of an element without the names of marks that only assistive technology reads. */
export function readable(element: Element | null): string {
  const copy = element?.cloneNode(true) as Element | undefined;
  for (const hidden of copy?.querySelectorAll("i") ?? []) hidden.remove();
  return copy?.textContent?.trim() ?? "";
}

/** The table, or an error that names what is missing: a touch without its table is a mistake of the page. */
export function tableIn(host: HTMLElement, selector: string): HTMLTableElement {
  const found = host.querySelector<HTMLTableElement>(selector);
  if (!found) throw new Error(`The touch ${host.dataset.touch} has no table ${selector}.`);
  return found;
}
