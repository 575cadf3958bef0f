import { citations } from '../test/conformance/citations.ts';
import { deliveredIds } from '../test/conformance/delivered.ts';
import { requirements, threats } from '../test/conformance/requirements.ts';

const cited = citations(['test']);
const delivered = new Set(deliveredIds());

const sections = new Map<string, { id: string; text: string }[]>();
for (const line of requirements) {
  const section = line.id.split('-')[0] ?? '';
  sections.set(section, [...(sections.get(section) ?? []), line]);
}
for (const line of threats) {
  const section = `T ${line.group}`;
  sections.set(section, [...(sections.get(section) ?? []), line]);
}

for (const [section, lines] of sections) {
  const open = lines.filter(({ id }) => !cited.has(id));
  console.log(`\n${section}: ${lines.length - open.length} of ${lines.length} cited`);
  for (const { id, text } of open) {
    console.log(`  ${delivered.has(id) ? 'MISSING' : 'open   '} ${id} ${text.slice(0, 90)}`);
  }
}
const all = [...requirements, ...threats];
const citedCount = all.filter(({ id }) => cited.has(id)).length;
const missing = [...delivered].filter((id) => !cited.has(id));
console.log(
  `\n${citedCount} of ${all.length} cited. Delivered: ${delivered.size}, of them not cited: ${missing.length}.`,
);
