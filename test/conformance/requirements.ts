import { readFileSync } from 'node:fs';

/** A revision of the MCP specification by the short code of requirements/README.md, or an extension. */
export type Revision = '24' | '03' | '06' | '11' | '26' | 'ext';

/** One line of the specifications (or of our own, level K) that a test can cite. */
export interface Requirement {
  /** Section letter and group, then a running number: `A3-03`. */
  id: string;
  level: string;
  role: string;
  revisions: Revision[];
  text: string;
}

/** One attack, fault or promise that a test can cite. */
export interface Threat {
  id: string;
  group: string;
  kind: 'row' | 'promise';
  text: string;
}

const revisions: ReadonlySet<string> = new Set(['24', '03', '06', '11', '26', 'ext'] satisfies Revision[]);

function isRevision(text: string): text is Revision {
  return revisions.has(text);
}

/**
 * Reads the rows of a Markdown table.
 * @param text the document
 * @param columns how many cells each row has
 * @returns the cells of each row whose first cell is an id
 * @throws Error where a row has another number of cells
 */
export function parseRows(text: string, columns: number): string[][] {
  return text
    .split('\n')
    .filter((line) => /^\| *[A-Z]\d*-\d+ *\|/.test(line))
    .map((line) => {
      const cells = line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('\\|', '|'));
      if (cells.length !== columns) {
        throw new Error(`A row needs ${columns} cells, this one has ${cells.length}: ${line}`);
      }
      return cells;
    });
}

function table(name: string): string {
  return readFileSync(new URL(`./requirements/${name}.md`, import.meta.url), 'utf8');
}

/**
 * Reads a table of requirements.
 * @param text the Markdown document
 * @returns its rows
 * @throws Error for a row of another shape or a revision nobody knows
 */
export function parseRequirements(text: string): Requirement[] {
  return parseRows(text, 5).map(([id = '', level = '', role = '', revisionCodes = '', requirement = '']) => {
    const codes = revisionCodes.split(' ').filter((code) => code !== '');
    const unknown = codes.find((code) => !isRevision(code));
    if (unknown !== undefined) throw new Error(`${id} names the revision ${unknown}, which does not exist.`);
    return { id, level, role, revisions: codes.filter(isRevision), text: requirement };
  });
}

/**
 * Reads the table of threats.
 * @param text the Markdown document
 * @returns its rows
 * @throws Error for a row of another shape
 */
export function parseThreats(text: string): Threat[] {
  return parseRows(text, 4).map(([id = '', group = '', kind = '', threat = '']) => {
    if (kind !== 'row' && kind !== 'promise')
      throw new Error(`${id} is neither a row nor a promise: ${kind}`);
    return { id, group, kind, text: threat };
  });
}

/** Every requirement of the sections A (authorization), B (transports) and C (protocol). */
export const requirements: readonly Requirement[] = ['authorization', 'transports', 'protocol'].flatMap(
  (name) => parseRequirements(table(name)),
);

/** Every threat of the groups A to M. */
export const threats: readonly Threat[] = parseThreats(table('threats'));
