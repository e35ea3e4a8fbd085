/** The contract's words for states, outcomes and verdicts, by what they mean for who reads them. */
const TONES: Record<string, readonly string[]> = {
  good: ['valid', 'successful', 'completed', 'done', 'active', 'found', 'ok', 'live'],
  bad: ['invalid', 'failed', 'abandoned', 'down', 'blocked', 'disabled', 'revoked'],
  warn: ['malformed', 'degraded', 'saturated', 'unavailable', 'timeout', 'rejected', 'contradicts'],
  busy: ['pending', 'running', 'queued', 'revoking'],
};

/** A state in the contract's own word. */
export const Status = ({ word }: { word: string }) => {
  const tone = Object.keys(TONES).find((name) => TONES[name]?.includes(word)) ?? 'calm';
  return <span className={`status ${tone}`}>{word}</span>;
};
