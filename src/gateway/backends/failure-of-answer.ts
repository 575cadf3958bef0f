import { maxValues, type Refusal } from '../../mcp/building-blocks.ts';
import type { BackendFailure } from './backend-errors.ts';

/** Most values in an answer of a backend. */
export const defaultMaxAnswerValues = maxValues;

/**
 * Returns the failure for a response that could not be read: too large, or no response at all.
 * @param reason the reader's reason
 */
export function failureOfAnswer(reason: Refusal['reason']): BackendFailure {
  return reason === 'nested_too_deep' || reason === 'too_many_values' || reason === 'too_many_members'
    ? 'backend_answer_too_large'
    : 'backend_answer_unreadable';
}
