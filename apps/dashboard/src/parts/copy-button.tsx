import { useEffect, useState } from 'react';
import { Button } from './button.js';

const SAID_FOR_MS = 2_000;

/** Puts a text on the clipboard and says so. `what` names it to assistive technology. */
export const CopyButton = ({ text, what }: { text: string; what: string }) => {
  const [said, setSaid] = useState<'' | 'Copied' | 'Select and copy it by hand'>('');
  useEffect(() => {
    if (said === '') return;
    const timer = setTimeout(() => setSaid(''), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    // Over plain http, other than on this machine, browsers give pages no clipboard.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(copied ? 'Copied' : 'Select and copy it by hand');
  };
  return (
    <Button small look="quiet" aria-label={said === '' ? `Copy ${what}` : said} onPress={() => void copy()}>
      {said === '' ? 'Copy' : said}
    </Button>
  );
};
