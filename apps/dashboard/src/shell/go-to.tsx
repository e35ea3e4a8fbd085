import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/**
 * Leads to another address of the dashboard, once. The router's own component goes again whenever it is drawn anew, which
 * what it leads to can bring about without end.
 */
export const GoTo = ({ address }: { address: string }) => {
  const navigate = useNavigate();
  useEffect(() => void navigate({ to: '.', href: address, replace: true }), [navigate, address]);
  return null;
};
