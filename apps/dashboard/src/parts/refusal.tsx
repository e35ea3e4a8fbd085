import { explainError } from '../api/explain-error.js';
import { Button } from './button.js';

/** What went wrong and what to do about it, read out at once. Shows nothing without an error. */
export const Refusal = ({ error, onRetry }: { error: unknown; onRetry?: (() => unknown) | undefined }) => {
  if (error === null || error === undefined) return null;
  const { cause, remedy, requestId } = explainError(error);
  return (
    <div role="alert" className="refusal">
      <p>
        <strong>{cause}</strong> {remedy}
      </p>
      {requestId !== null && (
        <p className="hint">
          Number of this call: <code>{requestId}</code>
        </p>
      )}
      {onRetry && (
        <Button small onPress={() => void onRetry()}>
          Try again
        </Button>
      )}
    </div>
  );
};
