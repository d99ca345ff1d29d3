"""Pictures by matplotlib (extra ``plot``); reached through the methods of what they show."""
