import { describe, expect, it } from 'vitest';
import { formatFittedTable, widthOf } from '../../src/cli/table.ts';

const paint = (_style: string, text: string): string => text;
const heading = ['NAME', 'ABOUT', 'MORE'];

describe('a table', () => {
  it('has columns as wide as they need, and no blanks at the ends of lines', () => {
    const rows = [
      ['a', 'first', 'x'],
      ['longer', '', ''],
    ];
    expect(formatFittedTable(heading, rows, { paint })).toBe(
      ['NAME    ABOUT  MORE', 'a       first  x', 'longer', ''].join('\n'),
    );
  });

  it('fits a terminal: long cells go over several lines, words are kept', () => {
    const text = 'Adds a note to the notes of the person who asks for it';
    const lines = formatFittedTable(heading, [['add_note', text, 'text: string']], { width: 44, paint })
      .trimEnd()
      .split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(44);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines[0]).toMatch(/^NAME {6}ABOUT +MORE$/);
    const words = lines.slice(1).map((line) => line.slice(10, 32).trim());
    expect(words.join(' ')).toBe(text);
  });

  it('breaks words that are longer than a line', () => {
    const table = formatFittedTable(['A'], [['x'.repeat(50)]], { width: 20, paint });
    expect(table.split('\n').slice(1, 4)).toEqual(['x'.repeat(20), 'x'.repeat(20), 'x'.repeat(10)]);
  });

  it('counts what a terminal shows in two columns as two', () => {
    expect([widthOf('ab'), widthOf('日本'), widthOf('👩‍💻'), widthOf('é')]).toEqual([2, 4, 2, 1]);
    const table = formatFittedTable(['A', 'B'], [['日本', 'x']], { paint });
    expect(table.split('\n')).toEqual(['A     B', '日本  x', '']);
  });

  it('strips cells of what a terminal could act on (T-190)', () => {
    const table = formatFittedTable(['A'], [['a\u001b[31m\u202eb\nc']], { paint });
    expect(table).toBe('A\nab c\n');
  });

  it('paints the heading and the first column', () => {
    const named = (style: string, text: string): string => `<${style}>${text}`;
    const table = formatFittedTable(['A', 'B'], [['a', 'b']], { paint: named });
    expect(table).toBe('<dim>A  B\n<cyan>a  b\n');
  });
});
