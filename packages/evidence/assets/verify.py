#!/usr/bin/env python3
"""Verifies a dossier of VAT checks, offline.

    python3 -I verify.py                     the dossier in the folder that holds this file
    python3 -I verify.py DOSSIER             the dossier in the folder or zip file DOSSIER
    python3 -I verify.py DOSSIER --roots PEM trust the root certificates in PEM instead of certs/tsa-roots.pem
    python3 -I verify.py DOSSIER --json      print the result as one JSON object

Needs Python 3.8 and OpenSSL 1.1.1 or later. Reads the dossier, changes nothing in it and runs nothing that is in it.
Prints "ok" for each thing that is correct, "note" for information, and "WRONG" for each problem. The exit code is 0 only
if there is no problem, 1 if there is one, and 2 if the dossier could not be checked, for example without OpenSSL, or the
result could not be printed.

--json prints an object with these keys. Later versions may add keys and codes; `version` changes if one is removed or
gets another meaning.

    format         "vat-evidence-verification"
    version        1
    verifier       {"name": "verify.py", "sha256": the SHA-256 of this file}
    result         "holds", "holds_development" (it holds, but development time-stamps prove nothing about time),
                   "does_not_hold" or "not_checked"
    exit_code      0, 0, 1 or 2
    reason         why the dossier could not be checked: {"code", "message"}; otherwise null
    counts         the numbers of files, checks, exchanges, requests, anchors, proofs, timestamps (of single checks),
                   supplies, stamps (all that hold) and development_stamps, as far as they were counted
    problems       {"code", "message", "meaning", "action", "file", "check_id", "vat_number"} for each problem, at most
                   1000; the last three are null if they do not apply. The codes are the keys of KINDS below
    problem_count  the number of all problems
    passed, notes  the sentences that are printed as "ok" and as "note"

The service publishes this file with its SHA-256 at GET /verifier. Use that copy if you do not trust the copy in the
dossier.
"""
import sys

# Older versions must still parse this file, or they would end with a traceback and the exit code of a problem.
if sys.version_info < (3, 8):
    sys.stderr.write('Python %d.%d is too old: verify.py needs Python 3.8 or later. This says nothing about the dossier.\n'
                     % tuple(sys.version_info[:2]))
    sys.exit(2)

# Without -I, Python searches the folder of this file for modules first, and that folder may contain planted modules. So
# the search path is reduced to Python's own library before anything else is imported. `sys` is part of the interpreter,
# and `encodings` was imported at its start, before this folder was added to the path.
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
import struct
import subprocess
import tempfile
import time
import zipfile
import zlib

SUMS, SUMS_STAMP = 'SHA256SUMS', 'SHA256SUMS.tsr'
ROOTS, INTERMEDIATES = 'certs/tsa-roots.pem', 'certs/tsa-intermediates.pem'
MAX_SHOWN, MAX_LISTED = 40, 1000
# A zip file with more files or bytes is not unpacked. A dossier of 10 000 checks has some 70 000 files and 200 MB.
MAX_FILES, MAX_BYTES = 1000000, 8 * 1024 ** 3
# An extra field of a zip file with another name of a file, which some programs use instead. No dossier has it.
OTHER_NAME = 0x7075
# The header before a file in a zip file, up to its name: signature, flags, method, two sizes, the lengths of name and extra fields.
HEADER = struct.Struct('<4s2xHH8xLLHH')
ENCRYPTED, SIZES_FOLLOW, UTF8_NAME = 0x1, 0x8, 0x800
# The bytes that may follow a file whose sizes are not in its header.
MAX_SIZES = 24
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
RESULTS = {0: 'holds', 1: 'does_not_hold', 2: 'not_checked'}
# Tables of earlier releases have no grades.
CHECKS_COLUMNS = ['id', 'checked_at', 'vat_number', 'country_code', 'verdict', 'valid', 'name', 'address',
                  'requester_vat_number', 'consultation_number', 'reference', 'request_id', 'response_hash', 'timestamp',
                  'anchor_seq', 'evidence_grade']
COVERAGE = 'coverage/results.csv'
COVERAGE_COLUMNS = ['coverage', 'vat_number_read', 'supply_date_read', 'check_id', 'checked_at', 'age_days',
                    'evidence_grade', 'error']
# A time-stamp may be this many seconds too early: five minutes of clock difference and one minute of accuracy.
TOLERANCE = 360
TREE = 'rfc9162-sha256'
ANCHOR_KEYS = {'v', 'seq', 'alg', 'closed_at', 'tree_size', 'root', 'prev_anchor_hash'}
COMMON_NAME = b'\x06\x03\x55\x04\x03'
# 2.999.100.101.118…: the arc for examples, then "development" in ASCII. No real authority can have that policy.
DEVELOPMENT_POLICY = b'\x88\x37development'
OID_SIGNED_DATA, OID_TST_INFO = bytes.fromhex('2a864886f70d010702'), bytes.fromhex('2a864886f70d0109100104')
GRANTED, GRANTED_WITH_CHANGES = b'\0', b'\1'
OID_RSA, OID_EC = bytes.fromhex('2a864886f70d010101'), bytes.fromhex('2a8648ce3d0201')
OID_PSS, OID_MGF1 = bytes.fromhex('2a864886f70d01010a'), bytes.fromhex('2a864886f70d010108')
OID_CONTENT_TYPE, OID_MESSAGE_DIGEST = bytes.fromhex('2a864886f70d010903'), bytes.fromhex('2a864886f70d010904')
# The signed attributes that contain the hash of the signer's certificate; the older attribute contains the SHA-1.
OID_NAMED, OID_NAMED_V2 = bytes.fromhex('2a864886f70d010910020c'), bytes.fromhex('2a864886f70d010910022f')
# SHA-256, SHA-384 and SHA-512, and the signature algorithms with each.
HASHES = ['sha256', 'sha384', 'sha512']
DIGESTS = [bytes.fromhex('6086480165030402' + end) for end in ('01', '02', '03')]
RSA_SIGNATURES = [bytes.fromhex('2a864886f70d0101' + end) for end in ('0b', '0c', '0d')]
EC_SIGNATURES = [bytes.fromhex('2a8648ce3d0403' + end) for end in ('02', '03', '04')]
# Why a time-stamp does not verify, by what openssl prints about it.
NOT_TRUSTED = 'its certificate does not lead to a trusted root, or was not valid then'
REASONS = (
    ('certificate purpose', 'its certificate is not for time-stamping alone'),
    ('[Vv]erify error', NOT_TRUSTED),
    # The issuer and serial number beside the hash of the certificate are compared by openssl alone ("ess").
    ('signature failure|digest failure|message digest|verification failure|SignerInfo_verify|OSSL_ESS|ess ',
     'its signature is invalid'),
    ('asn1|ASN1|d2i|c2i', 'a part of it cannot be read'),
)
PEM = '-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n'
PEM_BLOCK = b'-----BEGIN CERTIFICATE-----(.*?)-----END CERTIFICATE-----'
# `seconds`: the time, since 1970; `authority`: its names; `development`: whether it is a development authority; `signer`: the
# certificate (DER) that it is signed with; `others`: the other certificates in it.
Stamp = collections.namedtuple('Stamp', 'seconds authority development signer others')
# `path`: the program; `environment`: its variables; `folder`: its working directory. None of them is in the dossier.
OpenSsl = collections.namedtuple('OpenSsl', 'path environment folder')

# What each problem means, and what to do.
ADVICE = {
    'copy': ('This copy is not the dossier that was exported.',
             'Do not rely on it. Unpack the zip file again into an empty folder; if the problem remains, export the dossier '
             'again or ask for the original.'),
    'damaged': ('A part of the dossier is damaged, or is not what it should be, so it proves nothing.',
                'Download or copy the dossier again.'),
    'format': ('The dossier was made by a later release than this program.',
               'Download the current program from GET /verifier of the service, and run it on this dossier.'),
    'record': ('The dossier contradicts itself: a part of it was changed, replaced or left out before it was sealed.',
               'Do not rely on this record. Export the dossier again, and compare the response_hash of the check with the '
               'response that you received from the service.'),
    'proof': ('Nothing proves that this check existed when its anchor was stamped.',
              'Do not rely on its time. Export the dossier again; if the problem remains, report it to the operator of the '
              'service.'),
    'chain': ('The anchors are not the unbroken series that the service published: one of them was changed or replaced.',
              'Compare root and prev_anchor_hash of these anchors with GET /v1/anchors, or with the dossier of another '
              'customer.'),
    'seal': ('Nothing independent shows when this dossier was made, or that it is unchanged since then.',
             'Export the dossier again. If you received it from somebody else, ask for the original.'),
    'stamp': ('This time-stamp proves nothing about the time.',
              'If you used --roots, make sure that the file contains the root certificates of all authorities that stamped '
              'the dossier, also of earlier ones. Otherwise export the dossier again.'),
    'expired': ('The certificate of this time-stamp had expired before the dossier was made. Whoever obtained its key after '
                'that could have made the time-stamp.',
                'Do not rely on its time. The content is proved since the later time-stamp that is named, or since the '
                'dossier was made.'),
    'time': ('A time-stamp cannot be older than what it stamps, so one of the two times is false.',
             'Do not rely on either time; ask the operator of the service which one is right.'),
    'coverage': ('The check does not prove that the number was valid at the time of this supply, or the results say '
                 'something else than the check.',
                 'Treat the supply as not covered, and make the coverage again from your list of supplies.'),
}
# The kinds of problems: the sentence of each, and its advice. The codes do not change; docs/evidence.md lists them.
KINDS = {
    'irregular_file': ('{file} is not an ordinary file', 'copy'),
    'file_repeated': ('{file} is in the zip file twice', 'copy'),
    'file_damaged': ('{file} cannot be unpacked: {reason}', 'damaged'),
    'sums_line': ('{file} has a line that is malformed or repeated: {line}', 'copy'),
    'file_missing': ('{file} is missing', 'copy'),
    'file_added': ('{file} was added: SHA256SUMS does not name it', 'copy'),
    'file_changed': ('{file} was changed: its SHA-256 is not the one in SHA256SUMS', 'copy'),
    'rest_missing': ('{file} is missing, so the rest cannot be checked', 'copy'),
    'unreadable': ('{file} cannot be read, so the rest cannot be checked: {reason}', 'damaged'),
    'format_unknown': ('{file} has a format that this program does not support', 'format'),
    'check_repeated': ('{file} contains a check twice', 'record'),
    'check_renamed': ('{file} contains the check {check_id}', 'record'),
    'check_form': ('{file} is not in the form that is hashed (RFC 8785)', 'record'),
    'check_unlisted': ('{check_id} is missing in checks.csv', 'record'),
    'check_hash': ('the hash of {file} differs from the one in checks.csv', 'record'),
    'check_cell': ('checks.csv differs from {file} in {column}', 'record'),
    'check_missing': ('checks.csv names {check_id}, which is not in checks/', 'record'),
    'body_renamed': ('{file} is not the file that its exchange names', 'record'),
    'body_unexpected': ('{file} belongs to an exchange without such a body', 'record'),
    'body_differs': ('{file} differs from what its exchange records (size, SHA-256)', 'record'),
    'body_unclaimed': ('{file} belongs to no exchange', 'record'),
    'exchange_unclaimed': ('{file} belongs to a check that the dossier does not contain', 'record'),
    'request_renamed': ('{file} contains another request', 'record'),
    'requests_differ': ('{file} and requests/ differ', 'record'),
    'count_differs': ('{file} counts {stated} {name}; there are {found}', 'record'),
    'anchor_form': ('{file} is not an anchor in the form that is hashed', 'chain'),
    'anchor_renamed': ('{file} is anchor {seq}', 'chain'),
    'anchor_first': ('{file} is the first anchor but names a previous one', 'chain'),
    'chain_broken': ('the chain breaks at {file}: it does not follow from anchors/{before}.json', 'chain'),
    'anchor_early': ('{file} was closed before the previous anchor', 'chain'),
    'proof_repeated': ('proofs.jsonl contains {check_id}, or its position in anchor {seq}, twice', 'proof'),
    'proof_unclaimed': ('proofs.jsonl names {check_id} and anchor {seq}, and the dossier does not contain both', 'proof'),
    'proof_wrong': ('the proof of {check_id} does not lead to the root of anchor {seq}', 'proof'),
    'proof_anchor': ('checks.csv and the proof of {check_id} name different anchors', 'proof'),
    'proof_missing': ('the proof of {check_id} is missing', 'proof'),
    'seal_missing': ('{file} is missing: it is the time-stamp of the whole dossier. If the dossier was exported without it, '
                     'the time-stamping authority did not answer at that moment', 'seal'),
    'stamp_listed': ('checks.csv and timestamps/ differ about {check_id}', 'record'),
    'stamp_of_nothing': ('{file} is a time-stamp of a file that the dossier does not contain', 'stamp'),
    'stamp_of_other': ('{file} is not a time-stamp of the content of {stamped}', 'stamp'),
    'stamp_wrong': ('{file} does not verify: {reason}', 'stamp'),
    'stamp_expired': ('the certificate of {file} expired on {expired}, {reason}', 'expired'),
    'stamp_unreadable': ('{file} cannot be read as a time-stamp ({reason})', 'stamp'),
    'roots_missing': ('{file} contains no root certificate', 'stamp'),
    'stamped_early': ('{file} was stamped {stamped}, before its content was made ({made})', 'time'),
    'anchored_early': ('{check_id} was checked {checked}, after its anchor {seq} was closed', 'time'),
    'coverage_columns': ('{file} does not have the columns of a coverage', 'coverage'),
    'coverage_cell': ('row {row} of {file} differs from the check {check_id} in {column}', 'coverage'),
    'coverage_unproved': ('row {row} of {file} is called covered, but the check {check_id} {reason}', 'coverage'),
}

# The first MAX_LISTED problems, as --json prints them.
problems = []
# `dossier`: the absolute path of the dossier; `openssl`: an OpenSsl; `json`: whether the result is printed as JSON;
# `numbers`: the VAT number of each check; `explained`: the advice that was printed; `reading`: the file
# that was read last; `problem_count`, `counts`: numbers.
context = {'json': False, 'numbers': {}, 'explained': set(), 'problem_count': 0, 'counts': {}}
# The sentences that were printed as "ok" and as "note".
printed = {'ok': [], 'note': []}


def printable(text):
    # Names in a dossier are not trusted: control characters are escaped, so that the terminal does not interpret them.
    return ''.join(c if c.isprintable() else '\\u%04x' % ord(c) for c in text)


class Unwritten(BaseException):
    """Standard output cannot be written. Not an Exception, as those are problems of the dossier."""


def put(text):
    try:
        print(text, flush=True)
    except OSError as error:
        raise Unwritten(error)


def conclude(text):
    if not context['json']:
        put(text)


def print_line(kind, text):
    if kind in printed:
        printed[kind].append(text)
    conclude('%-5s %s' % (kind, printable(text)))


def report_problem(code, **named):
    """Reports a problem of one of the KINDS. `named`: what its sentence names; `file` and `check_id` also locate it."""
    sentence, advice = KINDS[code]
    meaning, action = ADVICE[advice]
    message = sentence.format(**named)
    inside = re.search(r'chk_[0-9a-z]+', str(named.get('file')))
    check_id = named.get('check_id') or (inside.group() if inside else None)
    number = context['numbers'].get(check_id)
    if number:
        message += ' (VAT number %s)' % number
    context['problem_count'] += 1
    if len(problems) < MAX_LISTED:
        problems.append({'code': code, 'message': message, 'meaning': meaning, 'action': action,
                         'file': named.get('file'), 'check_id': check_id, 'vat_number': number})
    if context['problem_count'] <= MAX_SHOWN:
        print_line('WRONG', message)
        if advice not in context['explained']:
            context['explained'].add(advice)
            print_line('', '%s %s' % (meaning, action))


def sha256(data):
    return hashlib.sha256(data).digest()


def path_of(path):
    """The path of a file of the dossier. An absolute path is returned unchanged."""
    return os.path.join(context['dossier'], path)


def read(path):
    context['reading'] = path
    with open(path_of(path), 'rb') as file:
        return file.read()


def reject_duplicate_keys(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError('a key occurs twice')
    return dict(pairs)


def whole_number(text):
    """The numbers that a dossier contains. Programs read and write others in different ways."""
    if not re.fullmatch('-?[0-9]{1,15}', text):
        raise ValueError('%s is not a whole number of a dossier' % text[:40])
    return int(text)


def parse_json(data):
    return json.loads(data.decode('utf-8'), object_pairs_hook=reject_duplicate_keys, parse_int=whole_number,
                      parse_float=whole_number, parse_constant=whole_number)


def is_number(*values):
    """Whether all are numbers of a dossier. In Python, True is equal to 1."""
    return all(type(value) is int for value in values)


def canonical(value):
    """The RFC 8785 form. Python writes the same bytes if keys are [a-z0-9_] and numbers are integers, as in a dossier."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(',', ':')).encode('utf-8')


def seconds_of(text):
    """Converts a time in the format of the service to seconds since 1970."""
    # Other digits than these are numbers to Python too, and so is a 60th second.
    if not re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?Z', text, re.ASCII):
        raise ValueError('not a time: %s' % text[:40])
    return calendar.timegm(time.strptime(text[:19], '%Y-%m-%dT%H:%M:%S'))


def utc(seconds):
    return time.strftime('%Y-%m-%d %H:%M:%S UTC', time.gmtime(seconds))


# --- openssl ------------------------------------------------------------------------------------------------------

def is_outside_dossier(path):
    """Whether a path is absolute and outside the dossier. A dossier may contain programs, and those are never run."""
    inside = os.path.join(os.path.realpath(context['dossier']), '')
    return os.path.isabs(path) and not os.path.join(os.path.realpath(path), '').startswith(inside)


def find_openssl(folder):
    """Finds openssl outside the dossier, or returns None. It runs in the empty `folder` with default settings, because a
    configuration file can name libraries to load, and variables can name such a file."""
    open(os.path.join(folder, 'openssl.cnf'), 'w').close()
    os.mkdir(os.path.join(folder, 'certs'))
    environment = {}
    for name, value in {'PATH': os.defpath, **os.environ}.items():
        if name == 'PATH' or name.startswith(('LD_', 'DYLD_')):
            value = os.pathsep.join(entry for entry in value.split(os.pathsep) if is_outside_dossier(entry))
        if value and not name.startswith(('OPENSSL_', 'SSL_CERT_')):
            environment[name] = value
    environment.update(OPENSSL_CONF=os.path.join(folder, 'openssl.cnf'), SSL_CERT_DIR=os.path.join(folder, 'certs'))
    for entry in environment.get('PATH', '').split(os.pathsep):
        for name in ('openssl', 'openssl.exe'):
            path = os.path.join(entry, name)
            if is_outside_dossier(path) and os.path.isfile(path) and os.access(path, os.X_OK):
                return OpenSsl(path, environment, folder)
    return None


def openssl(*arguments, given=b''):
    """Runs openssl with absolute paths, or paths below its folder. Returns the completed process (`returncode`, `stdout`,
    `stderr`)."""
    program = context['openssl']
    return subprocess.run([program.path, *arguments], input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=program.folder, env=program.environment)


def openssl_version(folder):
    """The version of openssl, and whether it can verify. LibreSSL and old versions do not support every option."""
    context['openssl'] = find_openssl(folder)
    if context['openssl'] is None:
        return 'none', False
    try:
        version = openssl('version').stdout.decode('utf-8', 'replace').strip()
    except OSError as error:
        return 'a program that cannot be run (%s)' % error, False
    match = re.match(r'OpenSSL (\d+)\.(\d+)\.(\d+)', version)
    return version, bool(match) and tuple(int(number) for number in match.groups()) >= (1, 1, 1)


# --- Files and their checksums ------------------------------------------------------------------------------------

def list_files():
    """The paths of all files of the dossier, with forward slashes as in SHA256SUMS. None if the dossier contains anything
    other than files and folders: a link can point outside the dossier, and reading a pipe or a device may never end."""
    found, irregular = set(), 0
    for folder, names, files in os.walk(context['dossier']):
        for name in names + files:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, context['dossier']).replace(os.sep, '/')
            if os.path.islink(path) or not (os.path.isdir(path) or os.path.isfile(path)):
                report_problem('irregular_file', file=relative)
                irregular += 1
            elif name in files:
                found.add(relative)
    return None if irregular else found


def check_sums(found):
    listed = {}
    for line in filter(None, re.split('\r\n|\n|\r', read(SUMS).decode('utf-8'))):
        match = re.fullmatch('([0-9a-f]{64})  ([A-Za-z0-9._/-]+)', line)
        if not match or match.group(2) in listed or {'', '.', '..'} & set(match.group(2).split('/')):
            report_problem('sums_line', file=SUMS, line=line[:120])
        else:
            listed[match.group(2)] = match.group(1)
    for path in sorted(set(listed) - found):
        report_problem('file_missing', file=path)
    for path in sorted(found - set(listed) - {SUMS, SUMS_STAMP}):
        report_problem('file_added', file=path)
    changed = [path for path in sorted(found & set(listed)) if sha256(read(path)).hex() != listed[path]]
    for path in changed:
        report_problem('file_changed', file=path)
    print_line('ok' if not problems else '-', '%d files compared with %s (%d names)' % (len(found), SUMS, len(listed)))


# --- RFC 3161 time-stamps -----------------------------------------------------------------------------------------

class WrongStamp(Exception):
    """A time-stamp that can be read does not verify."""


def der(data, at=0):
    """Reads one ASN.1 element: its tag, its content, and where it ends. The encoding is DER, but indefinite lengths are
    accepted, because some authorities use them."""
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
        raise ValueError('truncated')
    return tag, data[start:start + length], start + length


def has_form(data):
    """Whether all elements inside an element can be read."""
    try:
        return all(has_form(content) for tag, content in elements(data) if tag & 0x20)
    except Exception:
        return False


def encode(tag, content):
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, 'big')
    return bytes([tag, 0x80 | len(length)]) + length + content


def elements(data, *tags):
    """The elements inside a constructed element. The first ones must have the given tags."""
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
    """The fields of the CMS SignedData in a granted RFC 3161 response."""
    tag, answer, end = der(data)
    if tag != 0x30 or end != len(data):
        raise ValueError('bytes before or after the time-stamp')
    (_, status), (_, token) = elements(answer, 0x30, 0x30)
    if elements(status, 0x02)[0][1] not in (GRANTED, GRANTED_WITH_CHANGES):
        raise ValueError('the authority rejected the request')
    (_, oid), (_, content) = elements(token, 0x06, 0xa0)
    (_, signed), = elements(content, 0x30)
    if oid != OID_SIGNED_DATA:
        raise ValueError('not a time-stamp')
    return elements(signed, 0x02, 0x31, 0x30)


def certificates_in(fields):
    """The certificates (DER) that a time-stamp contains."""
    return [encode(tag, content) for kind, value in fields[3:] if kind == 0xa0 for tag, content in elements(value)]


def info_of(fields):
    """The signed content of a time-stamp: an encoded TSTInfo."""
    (_, kind), (_, wrapped) = elements(fields[2][1], 0x06, 0xa0)
    (tag, octets), = elements(wrapped)
    if kind != OID_TST_INFO:
        raise ValueError('not a time-stamp')
    # Some authorities split the octets into several elements.
    return b''.join(piece for _, piece in elements(octets, 0x04)) if tag == 0x24 else octets


def parse_stamp(fields, stamped):
    """The Stamp in an RFC 3161 response, or None if it is one of something else than the bytes `stamped`."""
    (_, content), = elements(info_of(fields), 0x30)
    info = elements(content, 0x02, 0x06, 0x30, 0x02, 0x18)
    (_, algorithm), (_, imprint) = elements(info[2][1], 0x30, 0x04)
    if info[0][1] != b'\1' or algorithm_of(algorithm) not in DIGESTS:
        raise ValueError('not a time-stamp of a SHA-256, SHA-384 or SHA-512')
    moment = re.fullmatch(r'(\d{14})(?:\.\d+)?Z', info[4][1].decode('ascii'))
    if not moment:
        raise ValueError('its time cannot be read')
    when = time.strptime(moment.group(1), '%Y%m%d%H%M%S')
    if imprint != hashlib.new(HASHES[DIGESTS.index(algorithm_of(algorithm))], stamped).digest():
        return None
    names = common_names(b''.join(certificates_in(fields)))
    development = info[1][1] == DEVELOPMENT_POLICY
    authority = ', '.join(names) or 'an authority without a name'
    signer = signing_certificate(fields)
    others = tuple(one for one in certificates_in(fields) if one != signer and has_expiry(one))
    return Stamp(calendar.timegm(when), authority, development, signer, others)


def algorithm_of(content):
    """The identifier in an AlgorithmIdentifier without parameters."""
    (_, oid), *parameters = elements(content, 0x06)
    if parameters not in ([], [(0x05, b'')]):
        raise ValueError('an algorithm with parameters')
    return oid


def pss_digest(content):
    """The hash function of an RSA-PSS AlgorithmIdentifier. Message and mask must use the same (RFC 4055, section 3.1)."""
    (_, oid), (_, parameters) = elements(content, 0x06, 0x30)
    (_, digest), (_, mask), (_, salt), *trailer = elements(parameters, 0xa0, 0xa1, 0xa2)
    (_, digest), = elements(digest, 0x30)
    (_, mask), = elements(mask, 0x30)
    (_, generator), (_, masked) = elements(mask, 0x06, 0x30)
    elements(salt, 0x02)
    if oid != OID_PSS or generator != OID_MGF1 or trailer not in ([], [(0xa3, b'\2\1\1')]):
        raise ValueError('RSA-PSS with unknown parameters')
    if algorithm_of(masked) != algorithm_of(digest):
        raise ValueError('RSA-PSS with two hash functions')
    return algorithm_of(digest)


def signer_of(fields):
    """The fields of the SignerInfo of the only signer of a time-stamp."""
    (_, signer), = elements(fields[-1][1], 0x30)
    return elements(signer, 0x02, 0x30, 0x30, 0xa0, 0x30, 0x04)


def is_pss(signer):
    return elements(signer[4][1], 0x06)[0][1] == OID_PSS


def certificate_fields(certificate):
    """The fields of a certificate (DER) from its serial number on: then the algorithm, the issuer, the validity."""
    body = elements(elements(elements(certificate, 0x30)[0][1], 0x30)[0][1])
    return body[1 if body[0][0] == 0xa0 else 0:]


def issuer_and_serial(certificate):
    """The issuer and serial number of a certificate (DER), as a SignerInfo contains them."""
    serial, _, issuer = certificate_fields(certificate)[:3]
    return encode(*issuer) + encode(*serial)


def expiry_of(certificate):
    """The last second in which a certificate (DER) is valid, since 1970 (RFC 5280, section 4.1.2.5)."""
    _, (tag, text) = elements(certificate_fields(certificate)[3][1])
    text = text.decode('ascii')
    century = '' if tag == 0x18 else '19' if text >= '50' else '20'
    return calendar.timegm(time.strptime(century + text, '%Y%m%d%H%M%SZ'))


def has_expiry(certificate):
    """Whether the time can be read. A time-stamp may contain certificates that nothing needs and no signature covers."""
    try:
        return expiry_of(certificate) is not None
    except Exception:
        return False


def signing_certificate(fields):
    """The certificate in a time-stamp that its signer names."""
    issued = signer_of(fields)[1][1]
    try:
        mine = [one for one in certificates_in(fields) if one[0] == 0x30 and issuer_and_serial(one) == issued]
    except (ValueError, IndexError):
        raise WrongStamp('one of its certificates cannot be read')
    if len(mine) != 1:
        raise WrongStamp('its signer is none of its certificates')
    return mine[0]


def attribute_of(signer, kind):
    """The single value of a signed attribute, or None."""
    attributes = [elements(attribute) for _, attribute in elements(signer[3][1])]
    found = [value for named, (_, values) in attributes if named == (0x06, kind) for value in elements(values)]
    if len(found) > 1:
        raise WrongStamp('it has an attribute twice')
    return found[0] if found else None


def check_attributes(fields, certificate):
    """Raises WrongStamp if the signed attributes do not fit the content and the certificate of the signer. The signature must
    cover the hash of that certificate (RFC 5035), or another one with the same key could replace it. `openssl ts` checks
    this for the certificate in certs/ if it is there, and `openssl cms` does not."""
    signer = signer_of(fields)
    if attribute_of(signer, OID_CONTENT_TYPE) != (0x06, OID_TST_INFO):
        raise WrongStamp('it signs something else')
    digest = elements(signer[2][1], 0x06)[0][1]
    if digest not in DIGESTS:
        raise ValueError('it uses another hash function')
    name = HASHES[DIGESTS.index(digest)]
    if attribute_of(signer, OID_MESSAGE_DIGEST) != (0x04, hashlib.new(name, info_of(fields)).digest()):
        raise WrongStamp('its signature covers other content')
    named = [(name, attribute_of(signer, kind)) for kind, name in ((OID_NAMED, 'sha1'), (OID_NAMED_V2, 'sha256'))]
    if not any(value for _, value in named):
        raise WrongStamp('its signature does not name one of its certificates')
    for name, (_, value) in (one for one in named if one[1]):
        first = elements(elements(elements(value, 0x30)[0][1], 0x30)[0][1])
        if first[0][0] == 0x30:
            name = HASHES[DIGESTS.index(algorithm_of(first.pop(0)[1]))]
        if first[0] != (0x04, hashlib.new(name, certificate).digest()):
            raise WrongStamp('its signature names another certificate')
    kinds = OID_RSA, RSA_SIGNATURES[DIGESTS.index(digest)], OID_EC, EC_SIGNATURES[DIGESTS.index(digest)]
    if not is_pss(signer) and elements(signer[4][1], 0x06)[0][1] not in kinds:
        raise WrongStamp('its signature is not of the kind that it names')


def intermediates():
    """The other certificates of the dossier, in PEM; empty if there is no such file."""
    return read(INTERMEDIATES) if os.path.isfile(path_of(INTERMEDIATES)) else b''


def certificates_of(pem):
    """The certificates (DER) in a text with PEM blocks."""
    return {base64.b64decode(block) for block in re.findall(PEM_BLOCK, pem, re.S)}


def check_unsigned(data, seconds, roots):
    """Raises if a part of a time-stamp was changed that its signature does not cover and that openssl does not check.

    SHA256SUMS.tsr is the only file without a checksum, so every byte of it is checked here (except for the text that an
    authority may add to "granted"). Authorities include certificates that the signature does not need and that lead to no
    known root. Those are compared with certs/, whose files have checksums.
    """
    fields, certificates = signed_data(data), certificates_in(signed_data(data))
    signer = signer_of(fields)
    version, _, (_, digest), _, (_, signature), *_ = signer
    (_, listed), = elements(fields[1][1], 0x30)
    number = DIGESTS.index(algorithm_of(digest))
    status = elements(elements(elements(data, 0x30)[0][1], 0x30)[0][1], 0x02)
    plain = status[0][1] == GRANTED and [tag for tag, _ in status[1:]] in ([], [0x30])
    if not plain or fields[0][1] != b'\3' or version[1] != b'\1' or algorithm_of(listed) != DIGESTS[number]:
        raise ValueError('it does not have the form of a time-stamp')
    # The parameters of RSA-PSS contain its hash function; they were compared before. Others have none.
    if not is_pss(signer):
        algorithm_of(signature)
    listed_certificates = certificates_of(read(ROOTS) + intermediates())
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, '%d.pem' % number) for number in range(len(certificates) + 1)]
        for path, certificate in zip(paths, certificates):
            with open(path, 'w') as file:
                file.write(PEM % base64.encodebytes(certificate).decode('ascii'))
        with open(paths[-1], 'wb') as file:
            file.write(b''.join(read(path) for path in paths[:-1]) + intermediates())
        for path in (path for path, certificate in zip(paths, certificates) if certificate not in listed_certificates):
            done = openssl('verify', '-check_ss_sig', '-partial_chain', '-attime', str(seconds), '-no-CApath',
                           '-CAfile', path_of(roots), '-untrusted', paths[-1], path)
            if done.returncode != 0:
                raise ValueError('one of its certificates was changed, or is not in certs/ and leads to no known root')


def verify_signature(data, stamp, stamped, seconds, roots):
    """Runs openssl on a time-stamp and returns the completed process. `openssl ts` does not support RSA-PSS, so
    `openssl cms` verifies such a time-stamp. What only `openssl ts` checks was checked before: that there is one signer, which
    certificate the signature names, and the stamped hash."""
    trusted = ['-CAfile', path_of(roots), '-partial_chain', '-attime', str(seconds)]
    has_intermediates = b'BEGIN CERTIFICATE' in intermediates()
    fields = signed_data(data)
    signer = signer_of(fields)
    if not is_pss(signer):
        # OpenSSL 3 takes a list of files here, divided at spaces and commas, which the path of a dossier may contain. So it gets
        # a copy below the folder in which it runs, by a relative path; one for each time-stamp, since they run at the same time.
        with tempfile.TemporaryDirectory(dir=context['openssl'].folder) as folder:
            copy = os.path.join(os.path.basename(folder), 'untrusted.pem')
            with open(os.path.join(folder, 'untrusted.pem'), 'wb') as file:
                file.write(intermediates())
            untrusted = ['-untrusted', copy] if has_intermediates else []
            return openssl('ts', '-verify', '-data', path_of(stamped), '-in', path_of(stamp), *trusted, *untrusted)
    if pss_digest(signer[4][1]) != algorithm_of(signer[2][1]):
        raise ValueError('RSA-PSS with two hash functions')
    token = elements(elements(data, 0x30)[0][1], 0x30, 0x30)[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'token.der')
        with open(path, 'wb') as file:
            file.write(encode(*token))
        untrusted = ['-certfile', path_of(INTERMEDIATES)] if has_intermediates else []
        return openssl('cms', '-verify', '-inform', 'DER', '-in', path, '-out', os.devnull, '-purpose', 'timestampsign',
                       '-no-CApath', *trusted, *untrusted)


def check_signature(data, stamp, stamped, parsed, roots):
    """Raises WrongStamp with the reason if openssl rejects a time-stamp."""
    reason = failure_of(verify_signature(data, stamp, stamped, parsed.seconds, roots))
    if reason == NOT_TRUSTED and roots != ROOTS and os.path.isfile(path_of(ROOTS)):
        if not failure_of(verify_signature(data, stamp, stamped, parsed.seconds, ROOTS)):
            reason = 'the root certificate of its authority (%s) is not in the file of --roots' % parsed.authority
            if parsed.development:
                reason += '. It is a development authority, whose time-stamps prove nothing about time'
    if reason:
        raise WrongStamp(reason)


def failure_of(done):
    """Why openssl rejected a time-stamp, or None. `done`: its completed process."""
    output = (done.stdout + done.stderr).decode('utf-8', 'replace')
    if done.returncode == 0 and re.search('Verification: OK|erification successful', output):
        return None
    lines = output.split('\n')
    raw = next((line.split(':', 4)[-1] for line in lines if 'error:' in line), lines[0])
    return next((reason for pattern, reason in REASONS if re.search(pattern, output)), raw)


def check_stamp(stamp, stamped, roots):
    """Returns the problem of a time-stamp (its kind and what it names) and None, or None and the Stamp."""
    try:
        data = read(stamp)
        fields = signed_data(data)
        parsed = parse_stamp(fields, read(stamped))
        if parsed is None:
            return ('stamp_of_other', {'file': stamp, 'stamped': stamped}), None
        check_attributes(fields, parsed.signer)
        check_signature(data, stamp, stamped, parsed, roots)
        if stamped == SUMS:
            check_unsigned(data, parsed.seconds, roots)
        return None, parsed
    except WrongStamp as wrong:
        if has_form(data):
            return ('stamp_wrong', {'file': stamp, 'reason': wrong}), None
        return ('stamp_unreadable', {'file': stamp, 'reason': 'not a time-stamp'}), None
    # Untrusted bytes can cause any exception (a number too large, elements nested too deeply). All are one problem.
    except Exception as error:
        return ('stamp_unreadable', {'file': stamp, 'reason': error}), None


def list_stamps(found):
    """Pairs of time-stamp and stamped file. The time-stamp of the whole dossier comes first."""
    pairs = []
    if SUMS_STAMP in found:
        pairs.append((SUMS_STAMP, SUMS))
    else:
        report_problem('seal_missing', file=SUMS_STAMP)
    for stamp in sorted(path for path in found if path.endswith('.tsr') and path != SUMS_STAMP):
        folder, name = os.path.split(stamp)
        stamped = {'anchors': stamp[:-4] + '.json', 'timestamps': 'checks/%s.json' % name[:-4]}.get(folder)
        if stamped in found:
            pairs.append((stamp, stamped))
        else:
            report_problem('stamp_of_nothing', file=stamp)
    return pairs


def check_stamps(found, roots):
    """The valid Stamp of each stamped file, by the path of the file."""
    pairs = list_stamps(found)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda pair: check_stamp(pair[0], pair[1], roots), pairs))
    counts, valid = {}, {}
    for (_, stamped), (problem, stamp) in zip(pairs, results):
        if problem:
            report_problem(problem[0], **problem[1])
            continue
        valid[stamped] = stamp
        counts[stamp.authority] = counts.get(stamp.authority, 0) + 1
        if stamped == SUMS:
            print_line('ok', 'the whole dossier is unchanged since %s, according to its time-stamp' % utc(stamp.seconds))
    for authority, count in sorted(counts.items()):
        print_line('ok', '%d time-stamp(s) verified, issued by: %s' % (count, authority))
    anchors = [path[:-5] for path in found if path.startswith('anchors/') and path.endswith('.json')]
    unstamped = sum(path + '.tsr' not in found for path in anchors)
    if unstamped:
        print_line('note', '%d anchor(s) had no time-stamp yet when the dossier was made' % unstamped)
    return valid


# --- Time-stamps that have expired --------------------------------------------------------------------------------

# A certificate that has expired is no longer withdrawn if its key is stolen. So a time-stamp proves its time only as long
# as its certificates are valid, or if a later time-stamp over it was made while they were valid and still holds itself.
# The time-stamp of the whole dossier covers all others, so they are looked at as they were when the dossier was made. One of
# a development authority shows no time: the operator of the service has its key.

def pem_file(folder, name, certificates):
    path = os.path.join(folder, name)
    with open(path, 'w') as file:
        file.write(''.join(PEM % base64.encodebytes(certificate).decode('ascii') for certificate in certificates))
    return path


def find_expiry(stamp, roots):
    """The last second in which every certificate from the signer of a time-stamp to a trusted root is valid. Each second in
    which one of the known certificates expires is a candidate; openssl verifies the certificates at that time."""
    known = certificates_of(read(roots) + intermediates())
    last = expiry_of(stamp.signer)
    expiries = {expiry_of(certificate) for certificate in known.union(stamp.others)}
    with tempfile.TemporaryDirectory() as folder:
        signer = pem_file(folder, 'signer.pem', [stamp.signer])
        # openssl takes the first that fits. In a time-stamp may be a changed copy of one that is in certs/.
        others = pem_file(folder, 'others.pem', [*sorted(known), *stamp.others])
        for moment in sorted({last} | {at for at in expiries if stamp.seconds <= at < last}, reverse=True):
            # openssl treats the last second, which is still valid, as expired.
            done = openssl('verify', '-partial_chain', '-attime', str(moment - 1), '-no-CApath', '-CAfile', path_of(roots),
                           '-untrusted', others, signer)
            if done.returncode == 0:
                return moment
    return stamp.seconds


def find_expiries(stamps, roots):
    """When the certificates of each time-stamp expire, by the path of the stamped file. Authorities use few certificates."""
    found = {}
    for stamp in stamps.values():
        if (stamp.signer, stamp.others) not in found:
            found[stamp.signer, stamp.others] = find_expiry(stamp, roots)
    return {path: found[stamp.signer, stamp.others] for path, stamp in stamps.items()}


def first_in_time(stamp, later):
    """Of later anchors that hold (seq, Stamp, expiry), the one that was stamped first, or None. A development authority
    renews no other authority, because the operator of the service has its key."""
    fitting = [one for one in later if stamp.development or not one[1].development]
    return min(fitting, key=lambda one: one[1].seconds) if fitting else None


def renewing(stamp, expiry, later):
    """Of later anchors that hold, the one that was stamped before `expiry` and is valid longest, or None."""
    fitting = [one for one in later if one[1].seconds <= expiry and (stamp.development or not one[1].development)]
    return max(fitting, key=lambda one: one[2]) if fitting else None


def useful(later, added):
    """The later anchors that hold, with one more, but without those that another one makes superfluous."""
    kept, listed = [], sorted(later + [added], key=lambda one: (one[1].seconds, one[1].development, -one[2]))
    for one in listed:
        if not any(other[2] >= one[2] and other[1].development <= one[1].development for other in kept):
            kept.append(one)
    return kept


def stamp_path(stamped):
    return re.sub('^checks/', 'timestamps/', stamped)[:-5] + '.tsr'


def in_order(path):
    return len(path), path


def check_expired(stamps, anchors, linked, anchor_of, roots):
    """Reports the time-stamps that had expired when the dossier was made, unless a later anchor renews them. Returns those
    that hold. `linked`: the anchors that contain the hash of the one before, by `seq`, of all that are known."""
    expiries = find_expiries(stamps, roots)
    is_dated = SUMS in stamps and not stamps[SUMS].development
    made = stamps[SUMS].seconds if is_dated else int(time.time())
    if SUMS in stamps and expiries[SUMS] < time.time():
        print_line('note', 'the certificate of %s expired on %s. If you received this dossier before that day, it is as good as '
                           'then. Otherwise export it again: a new dossier has a new time-stamp, and the later anchors '
                           'that renew the earlier ones' % (SUMS_STAMP, utc(expiries[SUMS])))
    expired, renewed, later, later_of = {}, {}, [], {}

    def holds(path, later):
        stamp, expiry = stamps[path], expiries[path]
        by, first = renewing(stamp, expiry, later), first_in_time(stamp, later)
        if expiry >= made:
            return True
        if by:
            renewed.setdefault((expiry, by[0], by[1].seconds), []).append(stamp_path(path))
        elif first:
            expired[path] = 'and anchor %d, the first later one that holds, was stamped only on %s' % (
                first[0], utc(first[1].seconds))
        else:
            expired[path] = 'and no later anchor that contains its hash holds'
        return path not in expired

    for seq in sorted(linked, reverse=True):
        path = 'anchors/%d.json' % seq
        if path in stamps and holds(path, later):
            later = useful(later, (seq, stamps[path], expiries[path]))
        later_of[seq] = later
        if not linked[seq]:
            later = []
    for path in stamps:
        if path.startswith('checks/'):
            holds(path, later_of.get(anchor_of.get(path[7:-5]), []))
    for (expiry, seq, seconds), paths in sorted(renewed.items()):
        print_line('ok', '%d time-stamp(s) with a certificate that expired on %s (%s) hold: anchor %d, which contains their '
                         'hashes, was stamped before that, on %s'
                   % (len(paths), utc(expiry), ', '.join(sorted(paths, key=in_order)[:3]), seq, utc(seconds)))
    for path in sorted(expired, key=in_order):
        report_problem('stamp_expired', file=stamp_path(path), expired=utc(expiries[path]), reason=expired[path])
    return {path: stamp for path, stamp in stamps.items() if path not in expired}


# --- Times --------------------------------------------------------------------------------------------------------

def check_times(checked, anchors, anchor_of, created_at, stamps):
    """Reports what was stamped or anchored before it was made, and prints since when the checks are proved."""
    closed = {seq: seconds_of(anchor['closed_at']) for seq, anchor in anchors.items()}
    latest = max([seconds_of(created_at), *closed.values(), *checked.values(), *(s.seconds for s in stamps.values())])
    made = {'anchors/%d.json' % seq: at for seq, at in closed.items()}
    made.update({'checks/%s.json' % check_id: at for check_id, at in checked.items()})
    made[SUMS] = latest
    for path, stamp in stamps.items():
        if stamp.seconds + TOLERANCE < made[path]:
            report_problem('stamped_early', file=path, stamped=utc(stamp.seconds), made=utc(made[path]))
    for check_id, seq in anchor_of.items():
        if check_id in checked and seq in closed and closed[seq] + TOLERANCE < checked[check_id]:
            report_problem('anchored_early', check_id=check_id, checked=utc(checked[check_id]), seq=seq)

    # The time of a development authority comes from the service itself and proves nothing.
    independent = {path: stamp.seconds for path, stamp in stamps.items() if not stamp.development}
    never = float('inf')
    proved = {}
    for seq in sorted(anchors, reverse=True):
        # The next anchor contains the hash of this one, so its time-stamp covers this one too.
        proved[seq] = min(independent.get('anchors/%d.json' % seq, never), proved.get(seq + 1, never))
    gaps, unstamped = {}, 0
    for check_id, at in checked.items():
        before = min(independent.get('checks/%s.json' % check_id, never), proved.get(anchor_of.get(check_id), never))
        unstamped += before == never
        stamped = min(before, independent.get(SUMS, never))
        if stamped < never:
            gaps[check_id] = max(0, stamped - at)
    if gaps:
        check_id = max(gaps, key=gaps.get)
        minutes = (gaps[check_id] + 59) // 60
        gap = '%d d %02d h %02d min' % (minutes // 1440, minutes // 60 % 24, minutes % 60)
        print_line('note', 'a check is proved to have existed when it was first stamped, not at its checked_at. The '
                           'longest time between the two is %s (%s)' % (gap, check_id))
    if gaps and unstamped:
        print_line('note', '%d check(s) are covered only by the time-stamp of the whole dossier, so nothing shows that '
                           'they are older than the dossier' % unstamped)


# --- Checks, exchanges, requests ----------------------------------------------------------------------------------

def without_marks(cell):
    """A cell without the ' before each part of it that a spreadsheet would read as a formula: one with another delimiter divides
    a cell there."""
    return re.sub(r"(^|[;\t\r\n])'", r'\1', cell)


def check_checks(found, rows):
    """The hash, the stated time and the body of every check, by its id."""
    hashes, checked, bodies = {}, {}, {}
    for path in sorted(path for path in found if path.startswith('checks/')):
        data = read(path)
        check = parse_json(data)
        check_id = check['id']
        hashes[check_id], checked[check_id] = sha256(data), seconds_of(check['checked_at'])
        bodies[check_id] = check
        if path != 'checks/%s.json' % check_id:
            report_problem('check_renamed', file=path, check_id=check_id)
        if canonical(check) != data:
            report_problem('check_form', file=path)
        row = rows.get(check_id)
        if row is None:
            report_problem('check_unlisted', check_id=check_id)
            continue
        if row['response_hash'] != 'sha256:' + hashes[check_id].hex():
            report_problem('check_hash', file=path)
        for column in ('vat_number', 'verdict', 'checked_at', 'consultation_number', 'requester_vat_number', 'name',
                       'address', 'reference', 'country_code', 'valid', 'request_id', 'evidence_grade'):
            # Tables of earlier releases have no grades, and neither have the checks of that time.
            if column == 'evidence_grade' and column not in row:
                continue
            value = check.get(column)
            text = '' if value is None else json.dumps(value) if isinstance(value, bool) else value
            if without_marks(row[column]) != without_marks(text):
                report_problem('check_cell', file=path, column=column)
    for check_id in sorted(set(rows) - set(hashes)):
        report_problem('check_missing', check_id=check_id)
    print_line('ok' if not problems else '-', '%d check(s) compared with checks.csv' % len(hashes))
    return hashes, checked, bodies


def check_body(path, recorded, found):
    data = b''
    if recorded['file'] is not None:
        if recorded['file'] != os.path.basename(path):
            return report_problem('body_renamed', file=path)
        data = read(path)
    elif path in found:
        report_problem('body_unexpected', file=path)
    if not is_number(recorded['size']) or len(data) != recorded['size'] or sha256(data).hex() != recorded['sha256']:
        report_problem('body_differs', file=path)


def check_exchanges(found, hashes):
    records = sorted(p for p in found if re.fullmatch(r'(exchanges|requests)/[^/]+/\d+-[a-z_]+\.json', p))
    bodies = {p for p in found if re.fullmatch(r'(exchanges|requests)/[^/]+/\d+-[a-z_]+\.(request|response)', p)}
    for path in records:
        folder, owner, _ = path.split('/')
        if folder == 'exchanges' and owner not in hashes:
            report_problem('exchange_unclaimed', file=path)
        record, stem = parse_json(read(path)), path[:-5]
        check_body(stem + '.request', record['request'], found)
        if record['response'] is not None:
            check_body(stem + '.response', record['response'], found)
            bodies.discard(stem + '.response')
        bodies.discard(stem + '.request')
    for path in sorted(bodies):
        report_problem('body_unclaimed', file=path)
    requests = sorted(p for p in found if re.fullmatch(r'requests/[^/]+/request\.json', p))
    for path in requests:
        if parse_json(read(path))['id'] != path.split('/')[1]:
            report_problem('request_renamed', file=path)
    print_line('ok' if not problems else '-', '%d exchange(s) with outside sources compared' % len(records))
    return len(records), len(requests)


# --- Anchors and proofs -------------------------------------------------------------------------------------------

def root_of(leaf, index, size, path):
    """The root that an inclusion proof leads to (RFC 9162, 2.1.3.2). None if the proof does not fit the size."""
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


def anchors_between(found):
    """The anchors that contain no check of the dossier but connect those that do: path and bytes of each, by `seq`."""
    between = {}
    for path in sorted(path for path in found if re.fullmatch(r'anchors/links-\d+\.jsonl', path)):
        for line in filter(None, read(path).split(b'\n')):
            between[parse_json(line)['seq']] = path, line
    return between


def is_anchor(value):
    """Whether a value has the form of an anchor. `value`: an object."""
    return (set(value) == ANCHOR_KEYS and is_number(value['v'], value['seq'], value['tree_size'])
            and value['v'] == 1 and value['seq'] >= 1 and value['tree_size'] >= 1 and value['alg'] == TREE
            and bool(re.fullmatch(r'.{19}\.\d{3}Z', value['closed_at'], re.ASCII))
            and is_hash(value['root']) and is_hash(value['prev_anchor_hash']))


def is_hash(value):
    return isinstance(value, str) and bool(re.fullmatch('[0-9a-f]{64}', value))


def check_anchors(found):
    """The anchors by `seq`, and whether each known one, also between them, contains the hash of the one before."""
    anchors, previous, linked = {}, None, {}
    records = anchors_between(found)
    named = {path for path in found if re.fullmatch(r'anchors/\d+\.json', path)}
    for path in sorted(named):
        number = int(path[8:-5])
        # Another spelling of the number, such as 07, would be a second file for the same anchor, and only one is compared.
        if path != 'anchors/%d.json' % number:
            report_problem('anchor_renamed', file=path, seq=number)
        records[number] = path, read(path)
    gaps = 0
    for number, (path, data) in sorted(records.items()):
        context['reading'] = path
        anchor = parse_json(data)
        if canonical(anchor) != data or not is_anchor(anchor):
            report_problem('anchor_form', file=path)
        if anchor['seq'] != number:
            report_problem('anchor_renamed', file=path, seq=anchor['seq'])
        seconds_of(anchor['closed_at'])
        if anchor['seq'] == 1 and anchor['prev_anchor_hash'] != '0' * 64:
            report_problem('anchor_first', file=path)
        if previous and number == previous[0] + 1:
            if anchor['prev_anchor_hash'] != previous[1]:
                report_problem('chain_broken', file=path, before=previous[0])
            if anchor['closed_at'] < previous[2]:
                report_problem('anchor_early', file=path)
        elif previous:
            gaps += 1
        linked[number] = bool(previous) and number == previous[0] + 1 and anchor['prev_anchor_hash'] == previous[1]
        previous = (number, sha256(data).hex(), anchor['closed_at'])
        if path in named:
            anchors[number] = anchor
    print_line('ok' if not problems else '-', '%d anchor(s): chain compared' % len(anchors))
    if gaps:
        print_line('note', 'the chain has %d gap(s): anchors that contain no check of this dossier are left out' % gaps)
    return anchors, linked


def check_proofs(hashes, anchors, rows):
    """The sequence number of the anchor of every anchored check, by the id of the check."""
    proved, positions = {}, set()
    for line in filter(None, read('proofs.jsonl').split(b'\n')):
        proof = parse_json(line)
        check_id, seq, index, path = proof['id'], proof['anchor_seq'], proof['leaf_index'], proof['path']
        if not (isinstance(check_id, str) and is_number(seq, index, proof['tree_size']) and isinstance(path, list)
                and all(map(is_hash, path))):
            raise ValueError('not a proof')
        anchor = anchors.get(seq)
        if check_id in proved or (seq, index) in positions:
            report_problem('proof_repeated', check_id=check_id, seq=seq)
        proved[check_id] = seq
        positions.add((seq, index))
        if check_id not in hashes or anchor is None:
            report_problem('proof_unclaimed', check_id=check_id, seq=seq)
            continue
        root = root_of(hashes[check_id], index, proof['tree_size'], [bytes.fromhex(node) for node in path])
        if proof['tree_size'] != anchor['tree_size'] or root is None or root.hex() != anchor['root']:
            report_problem('proof_wrong', check_id=check_id, seq=seq)
        if rows.get(check_id, {}).get('anchor_seq') != str(seq):
            report_problem('proof_anchor', check_id=check_id)
    for check_id in sorted(set(hashes) - set(proved)):
        if rows.get(check_id, {}).get('anchor_seq'):
            report_problem('proof_missing', check_id=check_id)
    print_line('ok' if not problems else '-', '%d proof(s) followed to the root of their anchor' % len(proved))
    if len(hashes) > len(proved):
        print_line('note', '%d check(s) were not anchored yet when the dossier was made' % (len(hashes) - len(proved)))
    return proved


# --- Coverage -----------------------------------------------------------------------------------------------------

def day_of(text):
    """The day of a date or a time, counted from 1970."""
    if not re.match(r'\d{4}-\d\d-\d\d', text, re.ASCII):
        raise ValueError('not a date: %s' % text[:40])
    return calendar.timegm(time.strptime(text[:10], '%Y-%m-%d')) // 86400


def unproved(check, supply_date):
    """Why a check does not cover a supply of that date, or None."""
    if check['verdict'] != 'valid':
        return 'did not say valid'
    return 'was made after the supply' if day_of(check['checked_at']) > day_of(supply_date) else None


def check_coverage(found, bodies):
    """Compares each supply that the results call covered with the check that covers it. Returns the number of supplies."""
    if COVERAGE not in found:
        return 0
    covered = absent = row = 0
    header, rows = read_table(COVERAGE)
    if header[-len(COVERAGE_COLUMNS):] != COVERAGE_COLUMNS:
        report_problem('coverage_columns', file=COVERAGE)
        return 0
    for row, cells in enumerate(rows, 1):
        line = dict(zip(COVERAGE_COLUMNS, cells[-len(COVERAGE_COLUMNS):]))
        if line['coverage'] != 'covered':
            continue
        check = bodies.get(line['check_id'])
        if check is None:
            absent += 1
            continue
        covered += 1
        reason = unproved(check, line['supply_date_read'])
        if reason:
            report_problem('coverage_unproved', file=COVERAGE, row=row, check_id=check['id'], reason=reason)
        age = day_of(line['supply_date_read']) - day_of(check['checked_at'])
        expected = {'vat_number_read': check['vat_number'], 'checked_at': check['checked_at'], 'age_days': str(age),
                    'evidence_grade': check.get('evidence_grade', line['evidence_grade'])}
        for column in (name for name, value in expected.items() if line[name] != value):
            report_problem('coverage_cell', file=COVERAGE, row=row, check_id=check['id'], column=column)
    print_line('ok' if not problems else '-', '%d supply line(s), %d of them covered by a check of the dossier'
               % (row, covered))
    if absent:
        print_line('note', '%d covered supply line(s) without a check in the dossier, because it was deleted before the export: '
                           'nothing here proves them' % absent)
    return row


# --- The whole dossier --------------------------------------------------------------------------------------------

def read_table(path):
    """The header and the rows of a table. Every cell must be below a column, or a spreadsheet would show it elsewhere."""
    context['reading'] = path
    # A cell may be as long as the uploaded file. Python's limit is 131 072 characters; this one fits every platform.
    csv.field_size_limit(2 ** 31 - 1)
    with open(path_of(path), encoding='utf-8-sig', newline='') as file:
        header, *rows = list(filter(None, csv.reader(file, strict=True))) or [[]]
    if any(len(cells) != len(header) for cells in rows):
        raise ValueError('a row has more or fewer cells than the table has columns')
    return header, rows


def read_rows(path):
    """The rows of a table by the names of its columns."""
    header, rows = read_table(path)
    # Of two columns with one name, only one would be compared.
    if len(set(header)) != len(header):
        raise ValueError('a column occurs twice')
    if path == 'checks.csv' and header not in (CHECKS_COLUMNS, CHECKS_COLUMNS[:-1]):
        raise ValueError('it has other columns than every release has written')
    return [dict(zip(header, cells)) for cells in rows]


def numbers_in(found):
    """The VAT number of each check, by its id. Only names a check in sentences, so an unreadable table is no problem here."""
    try:
        return {row['id']: row['vat_number'] for row in read_rows('checks.csv')} if 'checks.csv' in found else {}
    except Exception:
        return {}


def check_counts(stated, counted):
    context['counts'].update(counted)
    for name, count in counted.items():
        if not is_number(stated.get(name)) or stated[name] != count:
            report_problem('count_differs', file='manifest.json', stated=stated.get(name), name=name, found=count)


def certificate_blocks(path):
    """The certificates in a PEM file, each in PEM; none if one of them is damaged."""
    data = read(path)
    blocks = [match.group() for match in re.finditer(PEM_BLOCK, data, re.S)]
    whole = data.count(b'CERTIFICATE-----') == 2 * len(blocks)
    return blocks if whole and openssl('crl2pkcs7', '-nocrl', '-certfile', path_of(path)).returncode == 0 else []


def trusted_roots(given):
    path = given or ROOTS
    blocks = certificate_blocks(path)
    if not blocks:
        return report_problem('roots_missing', file=path)
    for block in blocks:
        shown = openssl('x509', '-noout', '-subject', '-issuer', '-fingerprint', '-sha256', given=block)
        subject, issuer, fingerprint = shown.stdout.decode('utf-8', 'replace').split('\n')[:3]
        print_line('note', 'trusted: %s; %s' % (subject, fingerprint))
        if subject.split('=', 1)[1].strip() != issuer.split('=', 1)[1].strip():
            print_line('note', 'that is not a root but the topmost certificate that is known; %s' % issuer)
    if not given:
        print_line('note', 'these roots came with the dossier: compare the fingerprints with those that the authority '
                           'publishes')
    return path


def verify(roots_given):
    found = list_files()
    if found is None:
        return 0
    context['numbers'] = numbers_in(found)
    context['counts'].update(files=len(found))
    check_sums(found)
    manifest = parse_json(read('manifest.json'))
    stated, _ = manifest['counts'], seconds_of(manifest['created_at'])
    if manifest['format'] != 'vat-evidence-dossier' or not is_number(manifest['version']) or manifest['version'] != 1:
        report_problem('format_unknown', file='manifest.json')
    table = read_rows('checks.csv')
    rows = {row['id']: row for row in table}
    if len(rows) != len(table):
        report_problem('check_repeated', file='checks.csv')
    hashes, checked, bodies = check_checks(found, rows)
    exchanges, requests = check_exchanges(found, hashes)
    anchors, linked = check_anchors(found)
    anchor_of = check_proofs(hashes, anchors, rows)
    stamped = {path[11:-4] for path in found if re.fullmatch(r'timestamps/[^/]+\.tsr', path)}
    for check_id in sorted(stamped ^ {check_id for check_id, row in rows.items() if row['timestamp'] == 'yes'}):
        report_problem('stamp_listed', check_id=check_id)
    context['counts'].update(supplies=check_coverage(found, bodies))
    check_counts(stated, {
        'checks': len(hashes), 'exchanges': exchanges, 'requests': requests, 'anchors': len(anchors),
        'proofs': len(anchor_of), 'timestamps': len(stamped), 'watch_changes': len(read_rows('watch-changes.csv')),
        'valid': sum(row['verdict'] == 'valid' for row in table),
        'invalid': sum(row['verdict'] == 'invalid' for row in table),
        'malformed': sum(row['verdict'] == 'malformed' for row in table),
    })
    if len(read_rows('requests.csv')) != requests:
        report_problem('requests_differ', file='requests.csv')
    roots = trusted_roots(roots_given)
    if roots and b'CERTIFICATE' in intermediates() and not certificate_blocks(INTERMEDIATES):
        raise ValueError('a certificate is damaged')
    stamps = check_stamps(found, roots) if roots else {}
    stamps = check_expired(stamps, anchors, linked, anchor_of, roots)
    check_times(checked, anchors, anchor_of, manifest['created_at'], stamps)
    context['counts'].update(stamps=len(stamps), development_stamps=sum(stamp.development for stamp in stamps.values()))
    return SUMS in stamps and stamps[SUMS].development


def unpack(path, folder):
    """Unpacks a zip file into an empty folder. Only ordinary files with plain names are written, and none outside the folder.
    Returns the reason why it is not unpacked, or None. The checksums of the zip file are ignored: SHA256SUMS shows which
    file was changed."""
    try:
        with zipfile.ZipFile(path) as archive, open(path, 'rb') as source:
            entries = archive.infolist()
            check_directory(source, entries)
            if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_BYTES:
                return 'too_large', '%s unpacks to more than %d files or %d bytes, which no dossier has.' % (
                    ascii(path), MAX_FILES, MAX_BYTES)
            added = common_folder([entry.filename for entry in entries if not entry.filename.endswith('/')])
            names = set()
            for entry in entries:
                unpack_entry(source, entry, folder, len(added), names)
    except (zipfile.BadZipFile, NotImplementedError, EOFError, ValueError, OSError, struct.error) as error:
        return 'not_a_zip', '%s is not a complete zip file (%s). If it was downloaded, download it again.' % (
            ascii(path), error)
    return None


def check_directory(source, entries):
    """Raises if another program could find other files in a zip file. Programs look for its directory at the position that the
    end of the file states, or directly before that end, read all of it, or the stated number of entries, and may find a second
    name or size of a file. Others read the headers before the files, or no directory at all."""
    for entry in entries:
        if entry.compress_type == zipfile.ZIP_STORED and entry.compress_size != entry.file_size:
            raise zipfile.BadZipFile('a file has two sizes')
        check_extra(entry.extra)
    start = max(0, source.seek(0, os.SEEK_END) - 65536 - 22 - 76)
    source.seek(start)
    tail = source.read()
    at = end = tail.rfind(b'PK\5\6', 0, len(tail) - 18)
    here, count, size, offset, comment = directory = struct.unpack_from('<HHLLH', tail, at + 8)
    # In a large file, what does not fit is in a second record. Some programs read that record only then, others always.
    if at >= 76 and tail[at - 20:at - 16] == b'PK\6\7':
        end = at - 76
        position, = struct.unpack_from('<Q', tail, at - 12)
        far = here, count, size, offset = struct.unpack_from('<QQQQ', tail, end + 24)
        fits = all(near in (value, limit) for near, value, limit in zip(directory, far, (0xffff,) * 2 + (0xffffffff,) * 2))
        if tail[end:end + 4] != b'PK\6\6' or position != start + end or not fits:
            raise zipfile.BadZipFile('its end states two directories')
    # Some programs write the number of entries without its upper digits.
    if here != count or count % 65536 != len(entries) % 65536 or offset + size != start + end or at + 22 + comment != len(tail):
        raise zipfile.BadZipFile('programs could find different files in it')
    place = spare = 0
    for entry in sorted(entries, key=lambda one: one.header_offset):
        source.seek(entry.header_offset)
        _, flags, method, *sizes, length, extra = HEADER.unpack(source.read(HEADER.size))
        name = entry.orig_filename.encode('utf-8' if entry.flag_bits & UTF8_NAME else 'cp437')
        # In the header the sizes may be 0: then they follow the content.
        unknown = {0} if flags & SIZES_FOLLOW else set()
        if (source.read(length) != name or method != entry.compress_type or (flags ^ entry.flag_bits) & ENCRYPTED
                or sizes[0] not in unknown | {entry.compress_size} or sizes[1] not in unknown | {entry.file_size}):
            raise zipfile.BadZipFile('the header before a file differs from the directory')
        if not 0 <= entry.header_offset - place <= spare:
            raise zipfile.BadZipFile('it has bytes that belong to no file')
        check_extra(source.read(extra))
        place, spare = source.tell() + entry.compress_size, MAX_SIZES if unknown else 0
    if not 0 <= offset - place <= spare:
        raise zipfile.BadZipFile('it has bytes that belong to no file')


def check_extra(fields):
    """Raises if one of the extra fields of a file is another name."""
    at = 0
    while at + 4 <= len(fields):
        kind, length = struct.unpack_from('<HH', fields, at)
        if kind == OTHER_NAME:
            raise zipfile.BadZipFile('a file has a second name')
        at += 4 + length


def common_folder(names):
    """The folder that all files are in, with a slash, because some programs add one when they zip; otherwise nothing."""
    folder = re.match('([^/]+/)?', names[0] if names else '').group()
    return folder if folder + SUMS in names and all(name.startswith(folder) for name in names) else ''


def unpack_entry(source, entry, folder, added, names):
    """Unpacks one file. `added`: the length of the folder in its name that is not part of the dossier; `names`: those of the files
    before it."""
    name, kind = entry.filename, entry.external_attr >> 16 & 0o170000
    if name.endswith('/'):
        return None
    if not re.fullmatch(r'[A-Za-z0-9._ /-]+', name) or {'', '.', '..'} & set(name.split('/')) or kind not in (0, 0o100000):
        return report_problem('irregular_file', file=name[added:])
    target = os.path.join(folder, *name.split('/'))
    # Windows ignores upper case, and dots and spaces at the end; macOS ignores upper case. The second file replaces the first.
    alike = '/'.join(part.rstrip('. ') for part in name.split('/')).lower()
    if alike in names:
        return report_problem('file_repeated', file=name[added:])
    names.add(alike)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        with open(target, 'xb') as file:
            unpack_content(source, entry, file)
    except (zipfile.BadZipFile, zlib.error, struct.error) as error:
        os.remove(target)
        report_problem('file_damaged', file=name[added:], reason=error)
    return None


def unpack_content(source, entry, file):
    """Unpacks the content of one file. Raises if its bytes are not all content: other programs unpack what follows, too."""
    source.seek(entry.header_offset)
    signature, *_, length, extra = HEADER.unpack(source.read(HEADER.size))
    if signature != b'PK\3\4' or entry.flag_bits & ENCRYPTED or entry.compress_type not in PACKINGS:
        raise zipfile.BadZipFile('its header is damaged, or it is encrypted or compressed in an unusual way')
    source.seek(length + extra, os.SEEK_CUR)
    left = entry.compress_size
    inflater = zlib.decompressobj(-zlib.MAX_WBITS) if left and entry.compress_type == zipfile.ZIP_DEFLATED else None
    while left and file.tell() <= entry.file_size:
        piece = source.read(min(left, 1 << 16))
        left -= len(piece)
        file.write(inflater.decompress(piece, entry.file_size - file.tell() + 1) if inflater else piece)
        if not piece or inflater and inflater.unused_data:
            break
    if left or file.tell() != entry.file_size or inflater and (not inflater.eof or inflater.unused_data):
        raise zipfile.BadZipFile('it has another size')


def dossier_in(folder):
    """The folder with the dossier: `folder`, or the only folder in it, as some programs add one when they zip."""
    names = os.listdir(folder)
    inner = os.path.join(folder, names[0]) if len(names) == 1 else folder
    return inner if os.path.isfile(os.path.join(inner, SUMS)) else folder


def open_dossier(path, folder):
    """Finds the dossier in a folder or a zip file, which is unpacked into `folder`. Returns why there is none, or None."""
    if os.path.isfile(path):
        reason = unpack(path, folder)
        context['dossier'] = dossier_in(folder)
        if reason is None and not os.path.isfile(path_of(SUMS)) and not os.path.isfile(path_of('manifest.json')):
            reason = 'not_a_dossier', '%s is a zip file, but not a dossier: it contains no %s.' % (ascii(path), SUMS)
        return reason
    context['dossier'] = path
    return None if os.path.isdir(path) else ('no_dossier', 'there is no folder or zip file %s.' % ascii(path))


def main():
    arguments = argparse.ArgumentParser(description='Verifies a dossier, offline. Runs nothing that is in it.')
    arguments.add_argument('dossier', metavar='DOSSIER', nargs='?',
                           help='the folder or zip file of the dossier (default: the folder of this file)')
    arguments.add_argument('--roots', metavar='PEM', help='root certificates to trust instead of those in certs/')
    arguments.add_argument('--json', action='store_true', help='print the result as one JSON object')
    given = arguments.parse_args()
    # None if it is closed.
    if sys.stdout:
        sys.stdout.reconfigure(errors='backslashreplace')
    context['json'] = given.json
    path = os.path.abspath(given.dossier or os.path.dirname(os.path.abspath(__file__)))
    # An empty text, such as that of a variable that is not set, is no file; it must not mean the roots of the dossier.
    roots = None if given.roots is None else os.path.abspath(given.roots)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as unpacked:
        reason = open_dossier(path, unpacked) or missing_openssl(scratch) or (roots and unusable_roots(roots))
        return not_checked(*reason) if reason else report(roots)


def unusable_roots(path):
    """Why the file of --roots cannot be used, which says nothing about the dossier, or None."""
    try:
        why = None if certificate_blocks(path) else 'it does not contain whole certificates in PEM'
    except OSError as error:
        why = error.strerror
    return why and ('no_roots', 'the file of --roots, %s, cannot be used: %s.' % (ascii(path), why))


def missing_openssl(scratch):
    version, supported = openssl_version(scratch)
    if supported:
        return None
    return 'no_openssl', (
        'the openssl program found is: %s. OpenSSL 1.1.1 or later is needed. If it is installed in another folder (on a Mac '
        'by "brew install openssl"), put that folder first: PATH="$(brew --prefix openssl)/bin:$PATH" sh verify.sh' % version)


def finish(code, result=None, reason=None):
    """Prints the JSON object of --json, and returns the exit code."""
    if context['json']:
        own = {'name': 'verify.py', 'sha256': sha256(read(os.path.abspath(__file__))).hex()}
        put(json.dumps({
            'format': 'vat-evidence-verification', 'version': 1, 'verifier': own, 'result': result or RESULTS[code],
            'exit_code': code, 'reason': reason, 'counts': context['counts'], 'problems': problems,
            'problem_count': context['problem_count'], 'passed': printed['ok'], 'notes': printed['note'],
        }, indent=2))
    return code


def not_checked(code, message):
    print_line('-', message)
    conclude('NOT CHECKED: this says nothing about the dossier.')
    return finish(2, reason={'code': code, 'message': message})


def report(roots):
    """Verifies the dossier, prints the result and returns the exit code."""
    print_line('note', 'this verifier has the SHA-256 %s: the service publishes it at GET /verifier'
               % sha256(read(os.path.abspath(__file__))).hex())
    is_seal_development = False
    try:
        is_seal_development = verify(roots)
    except FileNotFoundError as error:
        path = os.path.relpath(error.filename, context['dossier']) if error.filename else error
        report_problem('rest_missing', file=path)
    # Untrusted bytes can cause any exception (a number too large, values nested too deeply). All are one problem.
    except Exception as error:
        report_problem('unreadable', file=context['reading'], reason='%s %s' % (type(error).__name__, error))
    count = context['problem_count']
    if count:
        if count > MAX_SHOWN:
            print_line('-', 'and %d more' % (count - MAX_SHOWN))
        conclude('DOES NOT HOLD: %d problem(s) were found.' % count)
        return finish(1)
    print_line('note', 'the files match their time-stamps and each other; who made them is not proved by that. '
                       'README.txt explains how to compare them with what the service gave to others')
    development = context['counts']['development_stamps']
    if development:
        print_line('note', '%d of %d time-stamp(s) come from a DEVELOPMENT authority: they match the files, but they are worth '
                           'nothing as evidence of time, because no independent party holds its key. The time-stamp of the '
                           'whole dossier is %sone of them'
                   % (development, context['counts']['stamps'], '' if is_seal_development else 'not '))
        conclude('ALL HOLDS, except that development time-stamps prove nothing about time.')
        return finish(0, 'holds_development')
    conclude('ALL HOLDS.')
    return finish(0)


def run():
    """Runs main. Ends with 2 if the output cannot be written, without a word if its reader has gone, as other programs do."""
    try:
        return main()
    except Unwritten as unwritten:
        # At its end, Python would try again to write what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        error, = unwritten.args
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write('The output cannot be written: %s.\n' % error.strerror)
        return 2


if __name__ == '__main__':
    sys.exit(run())
