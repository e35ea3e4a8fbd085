import { useState } from 'react';
import type { ApiKey } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Moment } from '../../parts/moment.js';
import { Refusal } from '../../parts/refusal.js';
import { Status } from '../../parts/status.js';
import { useUndoable } from '../../parts/use-undoable.js';

/** Long enough to see the wrong row go, well within the five seconds in which a revoked key has to stop working. */
const UNDO_MS = 1_500;

/**
 * Revokes a key, with a moment to take it back: a shop stops working without its key. It is called revoked once the server
 * has said so: a browser that is closed before has perhaps never asked.
 */
export const RevokeKey = ({ apiKey }: { apiKey: ApiKey }) => {
  const [isRevoked, setRevoked] = useState(false);
  const revoke = useChange(['keys'], (api, _input: undefined) => api.call('DELETE', `/keys/${apiKey.key_id}`));
  const { isPlanned, plan, undo } = useUndoable(UNDO_MS, async () => {
    await revoke.mutateAsync(undefined);
    setRevoked(true);
  });
  if (apiKey.revoked_at !== null) {
    return (
      <span className="hint">
        <Status word="revoked" /> <Moment at={apiKey.revoked_at} />
      </span>
    );
  }
  return (
    <>
      {isPlanned || revoke.isPending || isRevoked ? (
        <span className="row">
          <Status word={isRevoked ? 'revoked' : 'revoking'} />
          {isPlanned && (
            <Button small onPress={undo}>
              Undo
            </Button>
          )}
        </span>
      ) : (
        <Button small look="danger" onPress={plan}>
          Revoke
        </Button>
      )}
      <Refusal error={revoke.error} />
    </>
  );
};
