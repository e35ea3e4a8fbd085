import { useLayoutEffect, useRef, useState } from 'react';
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
  // Apart from the call itself, which is shown as under way a moment after the plan is gone.
  const [asked, setAsked] = useState<'not' | 'asking' | 'done'>('not');
  const revoke = useChange(['keys'], (api, _input: undefined) => api.call('DELETE', `/keys/${apiKey.key_id}`));
  const { isPlanned, plan, undo } = useUndoable(UNDO_MS, async () => {
    setAsked('asking');
    try {
      await revoke.mutateAsync(undefined);
      setAsked('done');
    } catch (error) {
      setAsked('not');
      throw error;
    }
  });
  const isRevoked = asked === 'done' || apiKey.revoked_at !== null;
  const isLive = !(isRevoked || isPlanned || asked === 'asking');

  const cell = useRef<HTMLSpanElement>(null);
  const offered = isLive ? 'revoke' : isPlanned && !isRevoked ? 'undo' : 'nothing';
  const before = useRef(offered);
  useLayoutEffect(() => {
    if (before.current === offered) return;
    before.current = offered;
    // A button that goes takes the focus with it; whoever came by the keyboard would begin again at the top.
    const { activeElement } = document;
    if (activeElement !== document.body && !cell.current?.contains(activeElement)) return;
    const next = cell.current?.querySelector('button') ?? cell.current?.querySelector<HTMLElement>('[aria-live]');
    next?.focus({ preventScroll: true });
  }, [offered]);
  return (
    <>
      <span ref={cell} className="row">
        {offered === 'revoke' && (
          <Button small look="danger" onPress={plan}>
            Revoke
          </Button>
        )}
        <span className="hint" aria-live="polite" tabIndex={-1}>
          {!isLive && <Status word={isRevoked ? 'revoked' : 'revoking'} />}{' '}
          {apiKey.revoked_at !== null && <Moment at={apiKey.revoked_at} />}
        </span>
        {offered === 'undo' && (
          <Button small onPress={undo}>
            Undo
          </Button>
        )}
      </span>
      <Refusal error={revoke.error} />
    </>
  );
};
