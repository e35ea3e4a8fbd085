import { useEffect, useRef, useState } from 'react';
import type { Planned } from './create-planned-acts.js';
import { usePlanned } from './use-planned.js';

/**
 * Puts off what cannot be undone for `delayMs`, in which it can be called off. Leaving the page does it at once: whoever
 * goes away has not changed their mind. Ending the session does it before (`usePlanned`). `act` shows its refusal itself.
 */
export const useUndoable = (delayMs: number, act: () => Promise<unknown>) => {
  const acts = usePlanned();
  const [isPlanned, setPlanned] = useState(false);
  const latest = useRef(act);
  latest.current = act;
  const planned = useRef<Planned | null>(null);

  useEffect(() => {
    const leave = () => void planned.current?.now().catch(() => undefined);
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  return {
    isPlanned,
    plan: () => {
      setPlanned(true);
      planned.current = acts.plan(delayMs, () => {
        planned.current = null;
        setPlanned(false);
        return latest.current();
      });
    },
    undo: () => {
      planned.current?.undo();
      planned.current = null;
      setPlanned(false);
    },
  };
};
