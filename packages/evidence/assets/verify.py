#!/usr/bin/env python3
"""Verifies a dossier of VAT checks, offline.

    python3 -I verify.py                     the dossier in the folder that holds this file
    python3 -I verify.py DIR                 the dossier in the folder DIR
    python3 -I verify.py DIR --roots FILE    trust the root certificates in FILE (PEM) instead of certs/tsa-roots.pem

Needs Python 3.8 and OpenSSL 1.1.1 or later. Reads the dossier and changes nothing in it. Runs nothing that is in it: the
files of a dossier are data. Prints what was checked ("ok"), what you should know ("note") and what does not hold
("WRONG"). The exit code is 0 only when everything holds, and 2 when there is no such OpenSSL.

The service publishes this file with its SHA-256 at GET /verifier. Use that copy where you do not trust the dossier's.
"""
import sys

# Without -I, Python looks for modules in this file's folder first, and somebody else may have filled that folder. Only
# Python's own library stays, before anything else is imported. `sys` is part of the interpreter, and `encodings` was
# imported while it started, before this folder was on the path.
if not sys.flags.isolated:
    library = sys.modules['encodings'].__path__[0].replace('\\', '/').rpartition('/')[0]
    versions = sys.version_info[:2]
    own = {library, library + '/lib-dynload', '%s/python%d%d.zip' % ((library.rpartition('/')[0],) + versions)}
    for base in (sys.base_prefix.replace('\\', '/'), sys.base_exec_prefix.replace('\\', '/')):
        own.update({base + '/DLLs', '%s/python%d%d.zip' % ((base,) + versions)})
        own.update('%s/%s/python%d.%d/lib-dynload' % ((base, lib) + versions) for lib in ('lib', 'lib64'))
    sys.path[:] = [entry for entry in sys.path if entry.replace('\\', '/') in own]
sys.pycache_prefix, sys.dont_write_bytecode = None, True

import argparse
import base64
import calendar
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import subprocess
import tempfile
import time

SUMS, SUMS_STAMP = 'SHA256SUMS', 'SHA256SUMS.tsr'
ROOTS, INTERMEDIATES = 'certs/tsa-roots.pem', 'certs/tsa-intermediates.pem'
SHOWN = 40
# Seconds by which a stamp may be too early: clocks that are five minutes apart, and a minute's accuracy, are accepted.
TOLERANCE = 360
TREE = 'rfc9162-sha256'
ANCHOR_KEYS = {'v', 'seq', 'alg', 'closed_at', 'tree_size', 'root', 'prev_anchor_hash'}
COMMON_NAME = b'\x06\x03\x55\x04\x03'
# 2.999.100.101.118…: an example arc, then "development" in ASCII; no real authority can have that policy.
DEVELOPMENT_POLICY = b'\x88\x37development'
OID_SIGNED_DATA, OID_TST_INFO = bytes.fromhex('2a864886f70d010702'), bytes.fromhex('2a864886f70d0109100104')
GRANTED, GRANTED_WITH_CHANGES = b'\0', b'\1'
OID_RSA, OID_EC = bytes.fromhex('2a864886f70d010101'), bytes.fromhex('2a8648ce3d0201')
OID_PSS, OID_MGF1 = bytes.fromhex('2a864886f70d01010a'), bytes.fromhex('2a864886f70d010108')
# The signed attributes that name the signer's certificate by a hash: the older one by its SHA-1.
OID_NAMED, OID_NAMED_V2 = bytes.fromhex('2a864886f70d010910020c'), bytes.fromhex('2a864886f70d010910022f')
# SHA-256, -384 and -512, and the signatures with each.
HASHES = ['sha256', 'sha384', 'sha512']
DIGESTS = [bytes.fromhex('6086480165030402' + end) for end in ('01', '02', '03')]
RSA_SIGNATURES = [bytes.fromhex('2a864886f70d0101' + end) for end in ('0b', '0c', '0d')]
EC_SIGNATURES = [bytes.fromhex('2a8648ce3d0403' + end) for end in ('02', '03', '04')]
PEM = '-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n'
PEM_BLOCK = b'-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----'
# `seconds`: when, since 1970; `authority`: the names in it; `development`: whether it is a development authority's.
Stamp = collections.namedtuple('Stamp', 'seconds authority development')
# `path`: of the program; `environment` and `folder`: what it is run with and in. Nothing of them is from the dossier.
OpenSsl = collections.namedtuple('OpenSsl', 'path environment folder')

wrongs = []
# `dossier`: the folder that is verified, absolute; `openssl`: an OpenSsl.
context = {}


def say(kind, text):
    # Names in a dossier were written by others: what a terminal would act on is shown, not sent.
    print('%-5s %s' % (kind, ''.join(c if c.isprintable() else '\\u%04x' % ord(c) for c in text)), flush=True)


def wrong(text):
    wrongs.append(text)
    if len(wrongs) <= SHOWN:
        say('WRONG', text)


def sha256(data):
    return hashlib.sha256(data).digest()


def at(path):
    """Where a file of the dossier is. An absolute path stays what it is."""
    return os.path.join(context['dossier'], path)


def read(path):
    with open(at(path), 'rb') as file:
        return file.read()


def no_doubles(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError('a key is there twice')
    return dict(pairs)


def parse_json(data):
    return json.loads(data.decode('utf-8'), object_pairs_hook=no_doubles)


def canonical(value):
    """The RFC 8785 form: Python writes the same where keys are [a-z0-9_] and numbers integers, as they are here."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(',', ':')).encode('utf-8')


def seconds_of(text):
    """The seconds since 1970 of a time as the service writes it."""
    if not re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', text):
        raise ValueError('no time: %s' % text[:40])
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S'))


def utc(seconds):
    return time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime(seconds))


# --- openssl ------------------------------------------------------------------------------------------------------

def is_foreign(path):
    """Whether a path of the environment is absolute and leads to nothing in the dossier, which may hold a program too."""
    inside = os.path.join(os.path.realpath(context['dossier']), '')
    return os.path.isabs(path) and not os.path.join(os.path.realpath(path), '').startswith(inside)


def find_openssl(folder):
    """The program, to be run in the empty `folder`, or None. Its settings are its own defaults: a configuration file can
    name libraries to load, and variables can name such files."""
    open(os.path.join(folder, 'openssl.cnf'), 'w').close()
    os.mkdir(os.path.join(folder, 'certs'))
    environment = {}
    for name, value in {'PATH': os.defpath, **os.environ}.items():
        if name == 'PATH' or name.startswith(('LD_', 'DYLD_')):
            value = os.pathsep.join(entry for entry in value.split(os.pathsep) if is_foreign(entry))
        if value and not name.startswith(('OPENSSL_', 'SSL_CERT_')):
            environment[name] = value
    environment.update(OPENSSL_CONF=os.path.join(folder, 'openssl.cnf'), SSL_CERT_DIR=os.path.join(folder, 'certs'))
    for entry in environment.get('PATH', '').split(os.pathsep):
        for name in ('openssl', 'openssl.exe'):
            path = os.path.join(entry, name)
            if is_foreign(path) and os.path.isfile(path) and os.access(path, os.X_OK):
                return OpenSsl(path, environment, folder)
    return None


def openssl(*arguments, given=b''):
    """Runs openssl, with paths that are absolute; `returncode`, `stdout` and `stderr` of what is returned say what it did."""
    program = context['openssl']
    return subprocess.run([program.path, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=program.folder, env=program.environment)


def openssl_here(folder):
    """The version of openssl, and whether it can verify: LibreSSL and what is old do not know every option."""
    context['openssl'] = find_openssl(folder)
    if context['openssl'] is None:
        return 'none', False
    try:
        version = openssl('version').stdout.decode('utf-8', 'replace').strip()
    except OSError as error:
        return 'one that does not run (%s)' % error, False
    match = re.match(r'OpenSSL (\d+)\.(\d+)\.(\d+)', version)
    return version, bool(match) and tuple(int(number) for number in match.groups()) >= (1, 1, 1)


# --- Files and their sums -----------------------------------------------------------------------------------------

def files_here():
    """Every file of the dossier, with forward slashes, as the sums name them. None where there is something else than files
    and folders: a link leads out of the dossier, and reading a pipe or a device may never end."""
    found, odd = set(), 0
    for folder, names, files in os.walk(context['dossier']):
        for name in names + files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, context['dossier']).replace(os.sep, '/')
            if os.path.islink(path) or not (os.path.isdir(path) or os.path.isfile(path)):
                wrong('%s is no ordinary file' % relative)
                odd += 1
            elif name in files:
                found.add(relative)
    return None if odd else found


def check_sums(found):
    listed = {}
    for line in read(SUMS).decode('utf-8').splitlines():
        match = re.fullmatch('([0-9a-f]{64})  ([A-Za-z0-9._/-]+)', line)
        if not match or match.group(2) in listed or {'', '.', '..'} & set(match.group(2).split('/')):
            wrong('%s has a line that is ill-formed or there twice: %s' % (SUMS, line[:120]))
        else:
            listed[match.group(2)] = match.group(1)
    for path in sorted(set(listed) - found):
        wrong('%s is missing' % path)
    for path in sorted(found - set(listed) - {SUMS, SUMS_STAMP}):
        wrong('%s was added: %s does not name it' % (path, SUMS))
    changed = [path for path in sorted(found & set(listed)) if sha256(read(path)).hex() != listed[path]]
    for path in changed:
        wrong('%s was changed: its SHA-256 is not the one in %s' % (path, SUMS))
    say('ok' if not wrongs else '-', '%d files looked at; %s names %d' % (len(found), SUMS, len(listed)))


# --- RFC 3161 time-stamps -----------------------------------------------------------------------------------------

def der(data, at=0):
    """One ASN.1 element: tag, content, and where it ends. DER, but for lengths that some authorities leave open."""
    tag, length, start = data[at], data[at + 1], at + 2
    if length == 0x80:
        end = start
        while data[end:end + 2] != b'\0\0':
            end = der(data, end)[2]
        return tag, data[start:end], end + 2
    if length & 0x80:
        size = length & 0x7f
        length, start = int.from_bytes(data[start:start + size], 'big'), start + size
        if size > 4 or length < 0x80 or length >> 8 * (size - 1) == 0:
            raise ValueError('not DER')
    if start + length > len(data):
        raise ValueError('cut off')
    return tag, data[start:start + length], start + length


def encode(tag, content):
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, 'big')
    return bytes([tag, 0x80 | len(length)]) + length + content


def parts(data, *tags):
    """The elements in a constructed one; the first must have the tags given."""
    found, at = [], 0
    while at < len(data):
        tag, content, at = der(data, at)
        found.append((tag, content))
    if tuple(tag for tag, _ in found[:len(tags)]) != tags:
        raise ValueError('not a time-stamp')
    return found


def common_names(data):
    names, at = [], data.find(COMMON_NAME)
    while at >= 0:
        name = der(data, at + len(COMMON_NAME))[1].decode('utf-8', 'replace')
        names += [] if name in names else [name]
        at = data.find(COMMON_NAME, at + 1)
    return names


def signed_data(data):
    """The fields of the CMS SignedData in a granted RFC 3161 answer."""
    tag, answer, end = der(data)
    if tag != 0x30 or end != len(data):
        raise ValueError('bytes before or after the time-stamp')
    (_, status), (_, token) = parts(answer, 0x30, 0x30)
    if parts(status, 0x02)[0][1] not in (GRANTED, GRANTED_WITH_CHANGES):
        raise ValueError('the authority did not grant it')
    (_, oid), (_, content) = parts(token, 0x06, 0xa0)
    (_, signed), = parts(content, 0x30)
    if oid != OID_SIGNED_DATA:
        raise ValueError('not a time-stamp')
    return parts(signed, 0x02, 0x31, 0x30)


def certificates_in(fields):
    """The certificates, DER, that came with a time-stamp."""
    return [encode(tag, content) for kind, held in fields[3:] if kind == 0xa0 for tag, content in parts(held)]


def parse_stamp(data):
    """The hash function and the hash that an RFC 3161 answer stamps, and the Stamp."""
    fields = signed_data(data)
    (_, kind), (_, wrapped) = parts(fields[2][1], 0x06, 0xa0)
    (tag, octets), = parts(wrapped)
    # Some authorities write the octets in pieces.
    octets = b''.join(piece for _, piece in parts(octets, 0x04)) if tag == 0x24 else octets
    (_, content), = parts(octets, 0x30)
    info = parts(content, 0x02, 0x06, 0x30, 0x02, 0x18)
    (_, algorithm), (_, imprint) = parts(info[2][1], 0x30, 0x04)
    if kind != OID_TST_INFO or algorithm_of(algorithm) not in DIGESTS:
        raise ValueError('not a time-stamp over a SHA-256, SHA-384 or SHA-512')
    moment = re.fullmatch(r'(\d{14})(?:\.\d+)?Z', info[4][1].decode('ascii')).group(1)
    when = time.strptime(moment, '%Y%m%d%H%M%S')
    names = common_names(b''.join(certificates_in(fields)))
    development = info[1][1] == DEVELOPMENT_POLICY
    authority = ', '.join(names) or 'an authority that does not name itself'
    return HASHES[DIGESTS.index(algorithm_of(algorithm))], imprint, Stamp(calendar.timegm(when), authority, development)


def algorithm_of(content):
    """The identifier in an AlgorithmIdentifier without parameters."""
    (_, oid), *parameters = parts(content, 0x06)
    if parameters not in ([], [(0x05, b'')]):
        raise ValueError('an algorithm with parameters')
    return oid


def pss_digest(content):
    """The hash in an AlgorithmIdentifier of RSA-PSS; message and mask have to have the same (RFC 4055, section 3.1)."""
    (_, oid), (_, parameters) = parts(content, 0x06, 0x30)
    (_, digest), (_, mask), (_, salt), *trailer = parts(parameters, 0xa0, 0xa1, 0xa2)
    (_, digest), = parts(digest, 0x30)
    (_, mask), = parts(mask, 0x30)
    (_, generator), (_, masked) = parts(mask, 0x06, 0x30)
    parts(salt, 0x02)
    if oid != OID_PSS or generator != OID_MGF1 or trailer not in ([], [(0xa3, b'\2\1\1')]):
        raise ValueError('RSA-PSS with unknown parameters')
    if algorithm_of(masked) != algorithm_of(digest):
        raise ValueError('RSA-PSS with two hash functions')
    return algorithm_of(digest)


def signer_of(fields):
    """The one signer of a time-stamp: the fields of its SignerInfo."""
    (_, signer), = parts(fields[-1][1], 0x30)
    return parts(signer, 0x02, 0x30, 0x30, 0xa0, 0x30, 0x04)


def is_pss(signer):
    return parts(signer[4][1], 0x06)[0][1] == OID_PSS


def named_by(certificate):
    """Issuer and serial number of a certificate (DER), as a signer names it."""
    body = parts(parts(parts(certificate, 0x30)[0][1], 0x30)[0][1])
    number = 1 if body[0][0] == 0xa0 else 0
    return encode(*body[number + 2]) + encode(*body[number])


def check_named_certificate(signer, certificates):
    """Raises when the signature does not cover the hash of the signer's certificate (RFC 5035): another certificate with the
    same key could be put in its place. `openssl ts` checks the same, `openssl cms` does not."""
    mine = [certificate for certificate in certificates if named_by(certificate) == signer[1][1]]
    attributes = [parts(attribute, 0x06, 0x31) for _, attribute in parts(signer[3][1])]
    named = [(kind, values) for (_, kind), (_, values) in attributes if kind in (OID_NAMED, OID_NAMED_V2)]
    if len(mine) != 1 or not named:
        raise ValueError('its signature does not name one of its certificates')
    for kind, values in named:
        (_, value), = parts(values, 0x30)
        listed = parts(value, 0x30)[0][1]
        first = parts(parts(listed, 0x30)[0][1])
        name = 'sha1' if kind == OID_NAMED else 'sha256'
        if first[0][0] == 0x30:
            name = HASHES[DIGESTS.index(algorithm_of(first.pop(0)[1]))]
        if first[0] != (0x04, hashlib.new(name, mine[0]).digest()):
            raise ValueError('its signature names another certificate')


def check_unsigned(data, seconds, roots):
    """Raises when a part of a time-stamp is changed that its signature does not cover, and that openssl does not mind.

    That of SHA256SUMS is the one file without a sum, so here every byte has to be accounted for (but for words that an
    authority may put beside "granted"). Authorities send certificates along that the signature does not need, and that
    lead to no root that is known: those are accounted for by certs/, which has sums.
    """
    fields, certificates = signed_data(data), certificates_in(signed_data(data))
    signer = signer_of(fields)
    version, (_, issued), (_, digest), _, (_, signature), *_ = signer
    (_, listed), = parts(fields[1][1], 0x30)
    number = DIGESTS.index(algorithm_of(digest))
    status = parts(parts(parts(data, 0x30)[0][1], 0x30)[0][1], 0x02)
    plain = status[0][1] == GRANTED and [tag for tag, _ in status[1:]] in ([], [0x30])
    if not plain or fields[0][1] != b'\3' or version[1] != b'\1' or algorithm_of(listed) != DIGESTS[number]:
        raise ValueError('it is not in the form of a time-stamp')
    # RSA-PSS names its hash in its parameters, which were compared before.
    expected = (OID_RSA, RSA_SIGNATURES[number], OID_EC, EC_SIGNATURES[number])
    if not is_pss(signer) and algorithm_of(signature) not in expected:
        raise ValueError('its signature is of another kind than it says')
    if issued not in {named_by(certificate) for certificate in certificates}:
        raise ValueError('its signer is none of its certificates')
    blocks = re.findall(PEM_BLOCK, read(ROOTS) + read(INTERMEDIATES), re.S)
    kept = {base64.b64decode(block) for block in blocks}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, '%d.pem' % number) for number in range(len(certificates) + 1)]
        for path, certificate in zip(paths, certificates):
            with open(path, 'w') as file:
                file.write(PEM % base64.encodebytes(certificate).decode('ascii'))
        with open(paths[-1], 'wb') as file:
            file.write(b''.join(read(path) for path in paths[:-1] + [INTERMEDIATES]))
        for path in (path for path, certificate in zip(paths, certificates) if certificate not in kept):
            done = openssl('verify', '-check_ss_sig', '-partial_chain', '-attime', str(seconds), '-no-CApath',
                           '-CAfile', at(roots), '-untrusted', paths[-1], path)
            if done.returncode != 0:
                raise ValueError('one of its certificates was changed, or is not in certs/ and leads to no known root')


def verify_signature(data, stamp, stamped, seconds, roots):
    """What openssl says of a time-stamp. `openssl ts` does not know RSA-PSS, `openssl cms` does. What only the former checks
    is checked here: that there is one signer, and whose certificate it names; what is stamped was compared before."""
    trusted = ['-CAfile', at(roots), '-partial_chain', '-attime', str(seconds)]
    between = os.path.isfile(at(INTERMEDIATES)) and b'BEGIN CERTIFICATE' in read(INTERMEDIATES)
    fields = signed_data(data)
    signer = signer_of(fields)
    if not is_pss(signer):
        untrusted = ['-untrusted', at(INTERMEDIATES)] if between else []
        return openssl('ts', '-verify', '-data', at(stamped), '-in', at(stamp), *trusted, *untrusted)
    check_named_certificate(signer, certificates_in(fields))
    if pss_digest(signer[4][1]) != algorithm_of(signer[2][1]):
        raise ValueError('its signature is of another kind than it says')
    token = parts(parts(data, 0x30)[0][1], 0x30, 0x30)[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'token.der')
        with open(path, 'wb') as file:
            file.write(encode(*token))
        untrusted = ['-certfile', at(INTERMEDIATES)] if between else []
        return openssl('cms', '-verify', '-inform', 'DER', '-in', path, '-out', os.devnull, '-purpose', 'timestampsign',
                       '-no-CApath', *trusted, *untrusted)


def check_stamp(stamp, stamped, roots):
    """What is wrong with a time-stamp, or None; then the Stamp where nothing is."""
    try:
        data = read(stamp)
        name, imprint, parsed = parse_stamp(data)
        if imprint != hashlib.new(name, read(stamped)).digest():
            return '%s is over other bytes than those of %s' % (stamp, stamped), None
        done = verify_signature(data, stamp, stamped, parsed.seconds, roots)
        output = done.stdout + done.stderr
        if done.returncode == 0 and re.search(b'Verification: OK|erification successful', output):
            if stamped == SUMS:
                check_unsigned(data, parsed.seconds, roots)
            return None, parsed
        lines = output.decode('utf-8', 'replace').split('\n')
        why = next((line.split(':', 4)[-1] for line in lines if 'error:' in line), lines[0])
        return '%s does not verify: %s' % (stamp, why), None
    # Whatever foreign bytes lead to (a number too large, elements nested too deeply) is one answer.
    except Exception as error:
        return '%s cannot be read as a time-stamp (%s)' % (stamp, error), None


def stamps_here(found):
    """Every time-stamp with the file that it stamps, that of the whole dossier first."""
    work = []
    if SUMS_STAMP in found:
        work.append((SUMS_STAMP, SUMS))
    else:
        wrong('%s is missing: nothing shows when the dossier was made and that %s is the original. Where it was exported '
              'without one, the time-stamping authority did not answer at that moment: export again' % (SUMS_STAMP, SUMS))
    for stamp in sorted(path for path in found if path.endswith('.tsr') and path != SUMS_STAMP):
        folder, name = os.path.split(stamp)
        stamped = {'anchors': stamp[:-4] + '.json', 'timestamps': 'checks/%s.json' % name[:-4]}.get(folder)
        if stamped in found:
            work.append((stamp, stamped))
        else:
            wrong('%s stamps nothing that is here' % stamp)
    return work


def check_stamps(found, roots):
    """The Stamp over each file that has one which holds."""
    work = stamps_here(found)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda item: check_stamp(item[0], item[1], roots), work))
    counts, held = {}, {}
    for (_, stamped), (problem, stamp) in zip(work, results):
        if problem:
            wrong(problem)
            continue
        held[stamped] = stamp
        counts[stamp.authority] = counts.get(stamp.authority, 0) + 1
        if stamped == SUMS:
            say('ok', 'the whole dossier has been as it is since %s, says its time-stamp' % utc(stamp.seconds))
    for authority, count in sorted(counts.items()):
        say('ok', '%d time-stamp(s) verified, of: %s' % (count, authority))
    anchors = [path[:-5] for path in found if path.startswith('anchors/') and path.endswith('.json')]
    unstamped = sum(path + '.tsr' not in found for path in anchors)
    if unstamped:
        say('note', '%d anchor(s) had no time-stamp yet when the dossier was made' % unstamped)
    return held


# --- What was when ------------------------------------------------------------------------------------------------

def check_times(checked, anchors, places, made, stamps):
    """Nothing may be stamped, or closed into an anchor, before it was there. Then since when the checks are proved."""
    closed = {seq: seconds_of(anchor['closed_at']) for seq, anchor in anchors.items()}
    latest = max([seconds_of(made), *closed.values(), *checked.values(), *(s.seconds for s in stamps.values())])
    said = {'anchors/%d.json' % seq: at for seq, at in closed.items()}
    said.update({'checks/%s.json' % ident: at for ident, at in checked.items()})
    said[SUMS] = latest
    for path, stamp in stamps.items():
        if stamp.seconds + TOLERANCE < said[path]:
            moments = utc(stamp.seconds), utc(said[path])
            wrong('%s was stamped %s, which is before what it covers (%s)' % (path, *moments))
    for ident, seq in places.items():
        if ident in checked and seq in closed and closed[seq] + TOLERANCE < checked[ident]:
            wrong('%s was checked %s, after its anchor %d was closed' % (ident, utc(checked[ident]), seq))

    # A development authority's time is the service's own word.
    real = {path: stamp.seconds for path, stamp in stamps.items() if not stamp.development}
    never = float('inf')
    since = {}
    for seq in sorted(anchors, reverse=True):
        # The next anchor names this one by its hash.
        since[seq] = min(real.get('anchors/%d.json' % seq, never), since.get(seq + 1, never))
    gaps, late = {}, 0
    for ident, at in checked.items():
        before = min(real.get('checks/%s.json' % ident, never), since.get(places.get(ident), never))
        late += before == never
        stamped = min(before, real.get(SUMS, never))
        if stamped < never:
            gaps[ident] = max(0, stamped - at)
    if gaps:
        ident = max(gaps, key=gaps.get)
        minutes = (gaps[ident] + 59) // 60
        gap = '%d d %02d h %02d min' % (minutes // 1440, minutes // 60 % 24, minutes % 60)
        say('note', 'a check is proved to have existed when it was first stamped, not at its checked_at; the longest '
                    'time between the two is %s (%s)' % (gap, ident))
    if gaps and late:
        say('note', '%d check(s) have no stamp but that of the whole dossier: nothing shows that they are older' % late)


# --- Checks, exchanges, requests ----------------------------------------------------------------------------------

def check_checks(found, rows):
    """The hash of every check, by id, and when each says it was made."""
    hashes, checked = {}, {}
    for path in sorted(path for path in found if path.startswith('checks/')):
        data = read(path)
        check = parse_json(data)
        ident = check['id']
        hashes[ident], checked[ident] = sha256(data), seconds_of(check['checked_at'])
        if path != 'checks/%s.json' % ident:
            wrong('%s holds the check %s' % (path, ident))
        if canonical(check) != data:
            wrong('%s is not in the form that is hashed (RFC 8785)' % path)
        row = rows.get(ident)
        if row is None:
            wrong('checks.csv lacks %s' % ident)
            continue
        if row['response_hash'] != 'sha256:' + hashes[ident].hex():
            wrong('%s has another hash than checks.csv says' % path)
        for column in ('vat_number', 'verdict', 'checked_at', 'consultation_number', 'requester_vat_number', 'name',
                       'address', 'reference', 'country_code', 'valid', 'request_id'):
            value = check.get(column)
            text = '' if value is None else json.dumps(value) if isinstance(value, bool) else value
            if row[column] not in (text, "'" + text):
                wrong('checks.csv differs from %s in %s' % (path, column))
    for ident in sorted(set(rows) - set(hashes)):
        wrong('checks.csv names %s, which is not in checks/' % ident)
    say('ok' if not wrongs else '-', '%d check(s): hashes and checks.csv compared' % len(hashes))
    return hashes, checked


def check_body(path, said, found):
    data = b''
    if said['file'] is not None:
        if said['file'] != os.path.basename(path):
            return wrong('%s is not the file that its exchange names' % path)
        data = read(path)
    elif path in found:
        wrong('%s belongs to an exchange that had no such body' % path)
    if len(data) != said['size'] or sha256(data).hex() != said['sha256']:
        wrong('%s is not what its exchange says (size, SHA-256)' % path)


def check_exchanges(found, hashes):
    records = sorted(p for p in found if re.fullmatch(r'(exchanges|requests)/[^/]+/\d+-[a-z_]+\.json', p))
    bodies = {p for p in found if re.fullmatch(r'(exchanges|requests)/[^/]+/\d+-[a-z_]+\.(request|response)', p)}
    for path in records:
        folder, owner, _ = path.split('/')
        if folder == 'exchanges' and owner not in hashes:
            wrong('%s belongs to a check that is not here' % path)
        record, stem = parse_json(read(path)), path[:-5]
        check_body(stem + '.request', record['request'], found)
        if record['response']:
            check_body(stem + '.response', record['response'], found)
            bodies.discard(stem + '.response')
        bodies.discard(stem + '.request')
    for path in sorted(bodies):
        wrong('%s belongs to no exchange' % path)
    requests = sorted(p for p in found if re.fullmatch(r'requests/[^/]+/request\.json', p))
    for path in requests:
        if parse_json(read(path))['id'] != path.split('/')[1]:
            wrong('%s holds another request' % path)
    say('ok' if not wrongs else '-', '%d exchange(s) with outside sources compared' % len(records))
    return len(records), len(requests)


# --- Anchors and proofs -------------------------------------------------------------------------------------------

def root_of(leaf, index, size, path):
    """The root that an inclusion proof leads to: RFC 9162, 2.1.3.2. None when the proof fits no such tree."""
    if not 0 <= index < size:
        return None
    last, node = size - 1, sha256(b'\0' + leaf)
    for sibling in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            node = sha256(b'\1' + sibling + node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b'\1' + node + sibling)
        index, last = index >> 1, last >> 1
    return node if last == 0 else None


def check_anchors(found):
    anchors, previous = {}, None
    paths = [path for path in found if re.fullmatch(r'anchors/\d+\.json', path)]
    gaps = 0
    for path in sorted(paths, key=lambda path: int(path[8:-5])):
        data = read(path)
        anchor = parse_json(data)
        if canonical(anchor) != data or set(anchor) != ANCHOR_KEYS or anchor['v'] != 1 or anchor['alg'] != TREE:
            wrong('%s is no anchor in the form that is hashed' % path)
        if path != 'anchors/%d.json' % anchor['seq']:
            wrong('%s is anchor %d' % (path, anchor['seq']))
        if anchor['seq'] == 1 and anchor['prev_anchor_hash'] != '0' * 64:
            wrong('%s is the first anchor and follows another' % path)
        if previous and anchor['seq'] == previous[0] + 1:
            if anchor['prev_anchor_hash'] != previous[1]:
                wrong('the chain breaks at %s: it does not follow from anchors/%d.json' % (path, previous[0]))
            if anchor['closed_at'] < previous[2]:
                wrong('%s was closed before the anchor it follows' % path)
        elif previous:
            gaps += 1
        previous = (anchor['seq'], sha256(data).hex(), anchor['closed_at'])
        anchors[anchor['seq']] = anchor
    say('ok' if not wrongs else '-', '%d anchor(s): chain compared' % len(anchors))
    if gaps:
        say('note', 'the chain has %d gap(s): anchors without checks of this dossier are not in it' % gaps)
    return anchors


def check_proofs(hashes, anchors, rows):
    """The anchor of every check that has one."""
    proved, places = {}, set()
    for line in read('proofs.jsonl').decode('utf-8').splitlines():
        proof = parse_json(line.encode('utf-8'))
        ident, seq, index = proof['id'], proof['anchor_seq'], proof['leaf_index']
        anchor = anchors.get(seq)
        if ident in proved or (seq, index) in places:
            wrong('proofs.jsonl proves %s, or its place in anchor %s, twice' % (ident, seq))
        proved[ident] = seq
        places.add((seq, index))
        if ident not in hashes or anchor is None:
            wrong('proofs.jsonl proves %s by anchor %s, and not both are here' % (ident, seq))
            continue
        root = root_of(hashes[ident], index, proof['tree_size'], [bytes.fromhex(node) for node in proof['path']])
        if proof['tree_size'] != anchor['tree_size'] or root is None or root.hex() != anchor['root']:
            wrong('the proof of %s does not lead to the root of anchor %s' % (ident, seq))
        if rows.get(ident, {}).get('anchor_seq') != str(seq):
            wrong('checks.csv names another anchor for %s than its proof' % ident)
    for ident in sorted(set(hashes) - set(proved)):
        if rows.get(ident, {}).get('anchor_seq'):
            wrong('the proof of %s is missing' % ident)
    say('ok' if not wrongs else '-', '%d proof(s) followed to the root of their anchor' % len(proved))
    if len(hashes) > len(proved):
        say('note', '%d check(s) were not anchored yet when the dossier was made' % (len(hashes) - len(proved)))
    return proved


# --- The whole ----------------------------------------------------------------------------------------------------

def read_rows(path):
    with open(at(path), encoding='utf-8-sig', newline='') as file:
        return list(csv.DictReader(file, strict=True))


def check_counts(said, counted):
    for name, count in counted.items():
        if said[name] != count:
            wrong('manifest.json counts %s %s; there are %s' % (said[name], name, count))


def trusted_roots(given):
    path = given or ROOTS
    listing = openssl('crl2pkcs7', '-nocrl', '-certfile', at(path))
    blocks = [match.group() for match in re.finditer(PEM_BLOCK, read(path), re.S)]
    if listing.returncode != 0 or not blocks:
        return wrong('%s holds no root certificate' % path)
    for block in blocks:
        shown = openssl('x509', '-noout', '-subject', '-issuer', '-fingerprint', '-sha256', given=block)
        subject, issuer, fingerprint = shown.stdout.decode('utf-8', 'replace').split('\n')[:3]
        say('note', 'trusted: %s; %s' % (subject, fingerprint))
        if subject.split('=', 1)[1].strip() != issuer.split('=', 1)[1].strip():
            say('note', 'that is no root, but the topmost certificate that is known; %s' % issuer)
    if not given:
        say('note', 'these roots came with the dossier: compare the fingerprints with what the authority publishes')
    return path


def verify(roots_given):
    found = files_here()
    if found is None:
        return 0
    check_sums(found)
    manifest = parse_json(read('manifest.json'))
    if manifest['format'] != 'vat-evidence-dossier' or manifest['version'] != 1:
        wrong('manifest.json is of another format than this program knows')
    table = read_rows('checks.csv')
    rows = {row['id']: row for row in table}
    if len(rows) != len(table):
        wrong('checks.csv has a check twice')
    hashes, checked = check_checks(found, rows)
    exchanges, requests = check_exchanges(found, hashes)
    anchors = check_anchors(found)
    places = check_proofs(hashes, anchors, rows)
    stamped = {path[11:-4] for path in found if re.fullmatch(r'timestamps/[^/]+\.tsr', path)}
    for ident in sorted(stamped ^ {ident for ident, row in rows.items() if row['timestamp'] == 'yes'}):
        wrong('checks.csv and timestamps/ differ about %s' % ident)
    check_counts(manifest['counts'], {
        'checks': len(hashes), 'exchanges': exchanges, 'requests': requests, 'anchors': len(anchors),
        'proofs': len(places), 'timestamps': len(stamped), 'watch_changes': len(read_rows('watch-changes.csv')),
        'valid': sum(row['verdict'] == 'valid' for row in table),
        'invalid': sum(row['verdict'] == 'invalid' for row in table),
        'malformed': sum(row['verdict'] == 'malformed' for row in table),
    })
    if len(read_rows('requests.csv')) != requests:
        wrong('requests.csv and requests/ differ')
    roots = trusted_roots(roots_given)
    stamps = check_stamps(found, roots) if roots else {}
    check_times(checked, anchors, places, manifest['created_at'], stamps)
    return sum(stamp.development for stamp in stamps.values())


def main():
    arguments = argparse.ArgumentParser(description='Verifies a dossier, offline. Runs nothing that is in it.')
    arguments.add_argument('folder', metavar='DIR', nargs='?', help='the dossier; without it, the folder of this file')
    arguments.add_argument('--roots', metavar='PEM', help='root certificates to trust instead of those in certs/')
    given = arguments.parse_args()
    sys.stdout.reconfigure(errors='backslashreplace')
    context['dossier'] = os.path.abspath(given.folder or os.path.dirname(os.path.abspath(__file__)))
    if not os.path.isdir(context['dossier']):
        print('CANNOT TELL: there is no folder %s.' % ascii(given.folder))
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        return report(scratch, given.roots and os.path.abspath(given.roots))


def report(scratch, roots):
    """Verifies and prints how it ended; the exit code."""
    version, able = openssl_here(scratch)
    if not able:
        say('-', 'openssl here is: %s. Time-stamps need OpenSSL 1.1.1 or later. Where that is installed elsewhere (on '
                 'a Mac by "brew install openssl"), put it first: PATH="$(brew --prefix openssl)/bin:$PATH" sh verify.sh'
                 % version)
        print('CANNOT TELL: this says nothing about the dossier.')
        return 2
    say('note', 'this verifier has the SHA-256 %s: the service publishes it at GET /verifier'
        % sha256(read(os.path.abspath(__file__))).hex())
    development = 0
    try:
        development = verify(roots)
    except FileNotFoundError as error:
        path = os.path.relpath(error.filename, context['dossier']) if error.filename else error
        wrong('%s is missing, so the rest cannot be checked' % path)
    # Whatever foreign bytes lead to (a number too large, values nested too deeply) is one answer.
    except Exception as error:
        wrong('a file is not of its kind, so the rest cannot be checked: %s %s' % (type(error).__name__, error))
    if wrongs:
        if len(wrongs) > SHOWN:
            say('-', 'and %d more' % (len(wrongs) - SHOWN))
        print('DOES NOT HOLD: %d thing(s) are wrong.' % len(wrongs))
        return 1
    say('note', 'the files agree with their stamps and with each other; who made them is not proved by that: '
                'README.txt tells how to compare them with what the service gave to others')
    if development:
        say('note', '%d time-stamp(s) come from a DEVELOPMENT authority: they agree with the rest, but they are worth '
                    'nothing as evidence of time, since its key is not kept by an independent party' % development)
        print('ALL HOLDS, except that development time-stamps prove nothing about time.')
    else:
        print('ALL HOLDS.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
