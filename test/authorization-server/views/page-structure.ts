const tag = /<(\/?[a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/gi;

/**
 * @param html a rendered page
 * @returns its tags in order with their attribute names, and `unexpected` for each `<` that opens none of them
 */
export function pageStructure(html: string): string[] {
  const body = html.replace(/<style>[^<]*<\/style>/, '').replace('<!DOCTYPE html>', '');
  const tags = [...body.matchAll(tag)].map(
    ([, name, attributes = '']) =>
      `${name} ${[...attributes.matchAll(/([a-z-]+)(?:="[^"]*")?/gi)].map(([, attribute]) => attribute).join(' ')}`,
  );
  const rest = body.replace(tag, '');
  return [...tags, ...(rest.includes('<') ? ['unexpected'] : [])];
}

/** Text that closes attributes, elements and comments, and brings code of its own (T-059). */
export const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>--></title></style>&lt;b&gt;`;

/**
 * @param html a rendered page
 * @param attributes text that stands in the wanted tag, such as `name="email"`
 * @returns that tag
 */
export function tagWith(html: string, attributes: string): string {
  return [...html.matchAll(tag)].map(([whole]) => whole).find((whole) => whole.includes(attributes)) ?? '';
}
