import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * Puts off what cannot be undone for `delayMs`, in which it can be called off. Leaving the page does it at once: whoever
 * goes away has not changed their mind.
 */
export const useUndoable = (delayMs: number, act: () => void) => {
  const [isPlanned, setPlanned] = useState(false);
  const latest = useRef(act);
  latest.current = act;
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const run = useCallback(() => {
    timer.current = null;
    latest.current();
  }, []);

  useEffect(() => {
    const leave = () => {
      if (timer.current === null) return;
      clearTimeout(timer.current);
      run();
    };
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, [run]);
  return {
    isPlanned,
    plan: () => {
      setPlanned(true);
      timer.current = setTimeout(() => {
        run();
        setPlanned(false);
      }, delayMs);
    },
    undo: () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
      setPlanned(false);
    },
  };
};
