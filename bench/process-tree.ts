import { readdirSync, readFileSync } from 'node:fs';

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Gives the ids of a process and of all that it and they started. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = Number(/\) \S (\d+) /.exec(readIfThere(`/proc/${name}/stat`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const id of tree) tree.push(...(children.get(id) ?? []));
  return tree;
}

/** Memory of some processes, in kilobytes: what is shared counts for each by its part of it (PSS). */
export function proportionalKilobytes(ids: readonly number[]): number {
  const kilobytes = ids.map((id) => /^Pss:\s+(\d+)/m.exec(readIfThere(`/proc/${id}/smaps_rollup`))?.[1] ?? 0);
  return kilobytes.reduce<number>((sum, each) => sum + Number(each), 0);
}
