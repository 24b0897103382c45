// The program that asks PAM. PAM is a C library which may block for seconds and loads modules of the system, so it does
// not run in the master: a Python process with ctypes does it, one for each login.

/**
 * Reads service, name and password from standard input, separated by NUL. Exit status: 0 accepted, 1 refused, 2 PAM
 * cannot be used; standard output then says which step failed.
 */
export const pamHelper = `
import ctypes as c, os, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
service, name, password = sys.stdin.buffer.read().split(b"\\0")
try:
    pam, libc = c.CDLL("libpam.so.0"), c.CDLL(None)
except OSError as error:
    print(error)
    sys.exit(2)
class Message(c.Structure):
    _fields_ = [("style", c.c_int), ("text", c.c_char_p)]
class Answer(c.Structure):
    _fields_ = [("text", c.c_void_p), ("code", c.c_int)]
Talk = c.CFUNCTYPE(c.c_int, c.c_int, c.POINTER(c.POINTER(Message)), c.POINTER(c.POINTER(Answer)), c.c_void_p)
class Conversation(c.Structure):
    _fields_ = [("talk", Talk), ("data", c.c_void_p)]
libc.calloc.restype = libc.strdup.restype = c.c_void_p
libc.calloc.argtypes = [c.c_size_t, c.c_size_t]
libc.strdup.argtypes = [c.c_char_p]
hidden, shown = 1, 2
def talk(count, messages, answers, data):
    made = c.cast(libc.calloc(count, c.sizeof(Answer)), c.POINTER(Answer))
    for at in range(count):
        style = messages[at].contents.style
        if style == hidden:
            made[at].text = libc.strdup(password)
        elif style == shown:
            made[at].text = libc.strdup(name)
    answers[0] = made
    return 0
conversation = Conversation(Talk(talk), None)
handle = c.c_void_p()
pam.pam_start.argtypes = [c.c_char_p, c.c_char_p, c.POINTER(Conversation), c.POINTER(c.c_void_p)]
for step in (pam.pam_authenticate, pam.pam_acct_mgmt, pam.pam_end):
    step.argtypes = [c.c_void_p, c.c_int]
code = pam.pam_start(service, name, c.byref(conversation), c.byref(handle))
if code != 0:
    print("pam_start", code)
    os._exit(2)
no_empty_passwords = 1
step, code = "pam_authenticate", pam.pam_authenticate(handle, no_empty_passwords)
if code == 0:
    step, code = "pam_acct_mgmt", pam.pam_acct_mgmt(handle, no_empty_passwords)
pam.pam_end(handle, code)
print(step, code)
sys.stdout.flush()
os._exit(1 if code else 0)
`;
