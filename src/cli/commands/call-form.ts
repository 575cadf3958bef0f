import { printableLine } from '../output.ts';

/** A field of a form a server asks for. */
export interface FormField {
  /** What the person is asked, with the choices and the default. */
  question: string;
  schema: Record<string, unknown>;
  isRequired: boolean;
}

type Value = string | number | boolean | string[];

/** What a line means for a field: a value, none, or why it is refused. */
export type ReadField = { value: Value | undefined } | { refused: string };

/** The values to choose from, with what they are called. */
function choices(schema: Record<string, unknown>): { value: string; title: string }[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf, items } = schema;
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value: String(value), title: String(names[at] ?? value) }));
  }
  const options = oneOf ?? anyOf;
  if (Array.isArray(options))
    return options.map((option) => {
      const { const: value, title } = Object(option) as Record<string, unknown>;
      return { value: String(value), title: String(title ?? value) };
    });
  return typeof items === 'object' && items !== null ? choices(items as Record<string, unknown>) : undefined;
}

/**
 * Describes a field for a person.
 * @param name of the property
 * @param schema of the property, as the server sent it
 * @see MCP client features "Elicitation", requested schema (C7-03)
 */
export function formField(name: string, schema: Record<string, unknown>, isRequired: boolean): FormField {
  const { title, description, type, default: preset } = schema;
  const options = choices(schema);
  const what = options
    ? options.map((one) => (one.title === one.value ? one.value : `${one.value} (${one.title})`)).join(', ')
    : String(type ?? 'text');
  const several = type === 'array' ? ', separated by commas' : '';
  const otherwise = preset === undefined ? (isRequired ? '' : ', may be empty') : ` [${String(preset)}]`;
  const about = typeof description === 'string' ? ` - ${description}` : '';
  const question = `${typeof title === 'string' ? title : name}${about} (${what}${several}${otherwise}):`;
  return { question: printableLine(question), schema, isRequired };
}

function readOne(text: string, schema: Record<string, unknown>): ReadField {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  if (type === 'boolean') {
    if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
    return /^(?:n|no|false)$/i.test(text) ? { value: false } : { refused: 'Answer yes or no.' };
  }
  if (type === 'number' || type === 'integer') {
    const value = Number(text);
    if (!Number.isFinite(value) || (type === 'integer' && !Number.isInteger(value)))
      return { refused: `This is no ${type}.` };
    if (typeof minimum === 'number' && value < minimum) return { refused: `The least is ${minimum}.` };
    if (typeof maximum === 'number' && value > maximum) return { refused: `The most is ${maximum}.` };
    return { value };
  }
  if (typeof minLength === 'number' && text.length < minLength)
    return { refused: `At least ${minLength} characters.` };
  if (typeof maxLength === 'number' && text.length > maxLength)
    return { refused: `At most ${maxLength} characters.` };
  return { value: text };
}

/**
 * Reads a line as the value of a field.
 * @param field what was asked
 * @param line what the person typed; nothing stands for the default
 */
export function readField({ schema, isRequired }: FormField, line: string): ReadField {
  const text = line.trim();
  if (text === '') {
    const { default: preset } = schema;
    if (preset !== undefined) return { value: preset as Value };
    return isRequired ? { refused: 'This is needed.' } : { value: undefined };
  }
  const options = choices(schema)?.map(({ value }) => value);
  if (schema.type === 'array') {
    const values = text.split(',').map((one) => one.trim());
    const unknown = values.find((value) => options && !options.includes(value));
    return unknown === undefined ? { value: values } : { refused: `${printableLine(unknown)} is no choice.` };
  }
  if (options)
    return options.includes(text)
      ? { value: text }
      : { refused: `Choose: ${options.map(printableLine).join(', ')}` };
  return readOne(text, schema);
}
