"""Folders of an installation."""
import os

ROOT_DIR = "/"
CONFIG_DIR = "/etc/salt"
CACHE_DIR = "/var/cache/salt"
SOCK_DIR = "/var/run/salt"
SRV_ROOT_DIR = "/srv"
LOGS_DIR = "/var/log/salt"
PIDFILE_DIR = "/var/run"
LIB_STATE_DIR = CONFIG_DIR
BASE_FILE_ROOTS_DIR = "/srv/salt"
BASE_PILLAR_ROOTS_DIR = "/srv/pillar"
BASE_MASTER_ROOTS_DIR = "/srv/salt-master"
BASE_THORIUM_ROOTS_DIR = "/srv/thorium"
SPM_PARENT_PATH = "/srv/spm"
HOME_DIR = os.path.expanduser("~")
INSTALL_DIR = os.path.dirname(os.path.abspath(__file__))
