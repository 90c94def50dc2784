"""The stub: how a bare machine comes by our files. It is text, for user data or for a pod's command.

    AWS_REGION=eu-west-1 python3 -c "$STUB" SOURCES ASSIGNMENT DIGEST

It fetches the packed sources from S3, takes `orchestrator/` out of them, and becomes `orchestrator.training.bare`. Its
credentials come from the environment; else from EC2's metadata, or, in a pod, from IRSA or Pod Identity. A pod ends
after SWEEP_ENDS_S, whatever hangs: nobody else would end it in time. There is no ' in it, and it has hardly more than
2 KB: a test holds that.
"""

from __future__ import annotations

_BEGIN = r"""
import hashlib as H,hmac,io,json,os,re,sys,tarfile,tempfile,time,urllib.parse as P,urllib.request as U
E=os.environ.get;I,J,T="AccessKeyId","SecretAccessKey","Token"
R=E("AWS_REGION");W=E("AWS_ENDPOINT_URL")
def ask(u,h={},m=None,d=None):
 for n in range(9):
  try:return U.urlopen(U.Request(u,d,h,method=m),timeout=9).read()
  except Exception as e:
   if n>7:raise SystemExit("sweep: %s: %s"%(u,e))
   time.sleep(n)
"""
_KEYS = {
    "instance": r"""
def keys():
 b=(E("AWS_EC2_METADATA_SERVICE_ENDPOINT")or"http://169.254.169.254").rstrip("/")+"/latest/"
 h={"X-aws-ec2-metadata-token":ask(b+"api/token",{"X-aws-ec2-metadata-token-ttl-seconds":"99"},"PUT").decode()}
 b+="meta-data/iam/security-credentials/"
 return json.loads(ask(b+ask(b,h).decode().split()[0],h))
""",
    "pod": r"""
import threading as X
n=float(E("SWEEP_ENDS_S")or 1e9);os.environ["SWEEP_ENDS_AT"]=str(time.monotonic()+n)
w=X.Timer(n,os._exit,[124]);w.daemon=1;w.start()
def text(f):return open(f).read().strip()
def keys():
 f=E("AWS_WEB_IDENTITY_TOKEN_FILE");c=E("AWS_CONTAINER_CREDENTIALS_FULL_URI")
 if f:
  q={"Action":"AssumeRoleWithWebIdentity","Version":"2011-06-15","RoleArn":E("AWS_ROLE_ARN"),"RoleSessionName":"sweep","WebIdentityToken":text(f)}
  a=ask(W or"https://sts.%s.amazonaws.com/"%R,d=P.urlencode(q).encode()).decode()
  return dict(zip((I,J,T),[re.search("<%s>([^<]+)"%n,a)[1]for n in(I,J,"Session"+T)]))
 t=E("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
 return json.loads(ask(c,{"Authorization":text(t)if t else""}))
""",
}
_END = r"""
def get(s):
 k=E("AWS_ACCESS_KEY_ID");k={I:k,J:E("AWS_SECRET_ACCESS_KEY"),T:E("AWS_SESSION_TOKEN")}if k else keys()
 t=k.get(T);u=(W or"https://s3.%s.amazonaws.com"%R).rstrip("/")+s[4:]
 p=P.urlsplit(u);d=time.strftime("%Y%m%dT%H%M%SZ",time.gmtime());e=H.sha256(b"").hexdigest()
 h={"host":p.netloc,"x-amz-content-sha256":e,"x-amz-date":d}
 if t:h["x-amz-security-token"]=t
 n=";".join(sorted(h));S="%s/%s/s3/aws4_request"%(d[:8],R)
 c="\n".join(["GET",p.path,""]+[v+":"+h[v]for v in sorted(h)]+["",n,e]);K=("AWS4"+k[J]).encode()
 z="\n".join(["AWS4-HMAC-SHA256",d,S,H.sha256(c.encode()).hexdigest()])
 for v in S.split("/")+[z]:K=hmac.new(K,v.encode(),"sha256").digest()
 h["Authorization"]="AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"%(k[I],S,n,K.hex())
 return ask(u,h)
d=tempfile.mkdtemp();t=tarfile.open(fileobj=io.BytesIO(get(sys.argv[1])))
t.extractall(d,[m for m in t if m.name.startswith("orchestrator/")])
os.chdir(d);os.execv(sys.executable,[sys.executable,"-m","orchestrator.training.bare"]+sys.argv[2:])
"""


def make_stub(kind: str) -> str:
    """Return the stub for machines of a kind, `instance` or `pod`."""
    return "".join(part.lstrip("\n") for part in (_BEGIN, _KEYS[kind], _END))
