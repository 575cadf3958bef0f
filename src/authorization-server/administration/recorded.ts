/** Takes note of what an operator did. */
export type RecordAction = (event: string, details: Readonly<Record<string, string>>) => Promise<void>;

type Actions = Record<string, unknown>;

/**
 * Audit events of a section: for each of its functions the event, or `undefined` for a function that changes nothing.
 */
export type RecordedActions<Section> = {
  [Name in keyof Section]: Section[Name] extends (...args: never[]) => unknown
    ? string | undefined
    : undefined;
};

/** Returns the target of an action: its first argument if that is a name. Other arguments may be secrets. */
function targetOf(first: unknown, result: unknown): string {
  if (typeof first === 'string') return first.slice(0, 254);
  const { clientId } = (result ?? {}) as { clientId?: unknown };
  return typeof clientId === 'string' ? clientId : '';
}

/**
 * Wraps the functions of a section so that each action gets an audit event, directly after its effect (T-192, T-197).
 * @param section functions of an operator
 * @param events the event of each function that changes anything
 * @param record stores the event
 */
export function recorded<Section extends object>(
  section: Section,
  events: RecordedActions<Section>,
  record: RecordAction,
): Section {
  const noted = Object.entries(section as Actions).map(([name, action]) => {
    const event = (events as Record<string, string | undefined>)[name];
    if (typeof action !== 'function' || event === undefined) return [name, action];
    return [
      name,
      async (...args: unknown[]) => {
        const result = await action(...args);
        const target = targetOf(args[0], result);
        await record(event, target === '' ? {} : { target });
        return result;
      },
    ];
  });
  return Object.fromEntries(noted) as Section;
}
