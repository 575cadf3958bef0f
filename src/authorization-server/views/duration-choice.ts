import { FormRefused } from '../interactions/form.ts';
import type { Texts } from '../texts/texts.ts';
import { type Markup, markup, trustedMarkup } from './markup.ts';

/** For how long a client will have what it is given. */
export interface AccessTime {
  /** The times to choose from, the longest last; none for a client that cannot refresh. */
  choices: readonly Duration[];
  /** The longest it can have it, in seconds. */
  longestSeconds: number;
}

const checked = trustedMarkup(' checked');

/**
 * The choice for how long access is given; a sentence where there is nothing to choose. The longest is chosen at first.
 * @param time what there is to choose from
 */
export function renderDurationChoice(texts: Texts, { choices, longestSeconds }: AccessTime): Markup {
  const { duration } = texts.consent;
  const chosen = choices.at(-1);
  if (chosen === undefined) return markup`<p>${duration.brief(longestSeconds)}</p>`;
  const words = { hour: duration.hour, day: duration.day, revoked: duration.revoked(longestSeconds) };
  return markup`<fieldset><legend>${duration.legend}</legend>
${choices.map(
  (name) =>
    markup`<label class="option"><input type="radio" name="duration" value="${name}"${name === chosen && checked}><span>${words[name]}</span></label>
`,
)}</fieldset>`;
}

/** For how long a person may give access, in seconds; `revoked` lasts as long as any consent may. */
const lengths = { hour: 3600, day: 86_400, revoked: Number.POSITIVE_INFINITY } as const;

/** The name of such a time, on the wire between the consent page and us. */
export type Duration = keyof typeof lengths;

/**
 * The times there are to choose from: those that are shorter than what a consent lives anyway, and that.
 * @param grantSeconds the longest life of a consent
 */
export function offeredDurations(grantSeconds: number): Duration[] {
  return (Object.keys(lengths) as Duration[]).filter(
    (name) => name === 'revoked' || lengths[name] < grantSeconds,
  );
}

/**
 * Reads for how long access is given from a posted consent form; as long as may be where it does not say.
 * @param grantSeconds the longest life of a consent
 * @returns seconds
 * @throws FormRefused for a time that was not offered
 */
export function readDuration(form: URLSearchParams, grantSeconds: number): number {
  const chosen = form.get('duration') ?? 'revoked';
  const offered = offeredDurations(grantSeconds).find((name) => name === chosen);
  if (offered === undefined) throw new FormRefused(400, 'The form names a duration that is not offered.');
  return Math.min(lengths[offered], grantSeconds);
}
