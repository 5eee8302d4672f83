"""What a browser has noted while it showed a page of ours."""

import json


def check_logs(browser):
    """Nothing was reported, and no page of ours asked for more than itself.

    The first tab of the browser may still be loading parts of its own page.
    """
    reports = [
        entry["message"]
        for entry in browser.get_log("browser")
        if not entry["message"].startswith("chrome:")
    ]
    assert reports == []
    events = [
        json.loads(entry["message"])["message"]
        for entry in browser.get_log("performance")
    ]
    addresses = [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        and event["params"]["documentURL"].startswith("file:")
    ]
    assert len(addresses) >= 1
    assert [url for url in addresses if not url.startswith("file:")] == []
