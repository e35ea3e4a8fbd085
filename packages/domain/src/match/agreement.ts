/** From this score on, a detail of a trader agrees. */
export const AGREES_FROM = 90;
/** Below this score it differs. A person decides about scores from here to {@link AGREES_FROM}. */
const UNDECIDED_FROM = 70;

/** What a score from 0 to 100 means. */
export const agreementOf = (score: number): 'agrees' | 'undecided' | 'differs' => {
  if (score >= AGREES_FROM) return 'agrees';
  return score >= UNDECIDED_FROM ? 'undecided' : 'differs';
};
