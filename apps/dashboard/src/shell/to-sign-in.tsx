import { useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { GoTo } from './go-to.js';

/** Leads to the sign-in page and remembers where one wanted to go: the address when this was shown, for it changes on the way. */
export const ToSignIn = () => {
  const { state } = useRouter();
  const [wanted] = useState(state.location.href);
  return <GoTo address={wanted === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`} />;
};
